package wire

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// A Header is a protocol's headers, for all that reads captures: names of types
// and fields, where they lie, and what they mean to those who know no protocol.
// The layers of gopacket, the summary of captures and Wireshark's dissector are
// made from it, and the protocol's own lengths.
//
// The first byte is a version and a type, of 4 bits each, or without a version
// the type alone.
type Header struct {
	Version uint8 // 0: none
	Credit  CreditKind
	Types   []Type
	Fields  []Field // as they are told, without version and type
}

// A Type is one type of packet.
type Type struct {
	Value uint8 // 0 to 15
	Name  string
	Len   int  // bytes of its header, without what is repeated
	Each  int  // bytes for each that the field with the role Count counts; 0: none
	From  Side // who sends it
	Data  bool // it carries payload of its message
	Grant bool // it is credit: see CreditKind
}

// A Side is an end of a message.
type Side uint8

// Who sends a packet: an end of the message that it is about, or either, which a
// field with the role FromReceiver or FromSender tells.
const (
	Either Side = iota
	Sender
	Receiver
)

// A CreditKind says how a protocol's packets tell of credit.
type CreditKind uint8

// The ways to tell of credit.
const (
	NoCredit CreditKind = iota
	// CreditTotals: what receivers send has the total granted to that sender so far, in
	// wire bytes; what senders send has the total spent (roles CreditTotal and
	// CreditEpoch).
	CreditTotals
	// CreditOffsets: a packet that grants says up to which byte of its message may be
	// sent (role Offset). Bytes of the first Unscheduled packets need none.
	CreditOffsets
	// CreditPackets: a packet that grants allows one packet of data. One of data
	// uses it up unless it is Free.
	CreditPackets
)

// A Role is what a field means in any protocol.
type Role uint8

// The roles. A type has at most one field of each.
const (
	NoRole       Role = iota
	Message           // the message's id, among those of its ordered pair of hosts; its lowest bits if it has 2 bytes
	Offset            // in the message: of the payload, of the range asked for, or where a grant ends
	Length            // bytes of the whole message
	Range             // bytes of the range asked for
	Count             // how many repeated parts follow
	CreditTotal       // see CreditTotals
	CreditEpoch       // in which totals count: another one begins at 0
	CreditNumber      // of the credit that is granted, or used
	Unscheduled       // packets at the start of a message that need no credit
	Free              // flag: no credit is used up
	CSN               // flag: the sender is congested
	Echo              // flag: a marked packet is acknowledged
	FromReceiver      // flag: the message's receiver sends this, else its sender
	FromSender        // flag: the other way round
)

// A Field is one field of a header.
type Field struct {
	Name string // lower case, with underscores
	Doc  string // what it is, with its unit
	At   int    // first byte
	Size int    // bytes: 1, 2 or 4, big-endian; 0: 1
	Mask uint8  // bits of its one byte, 0: all. One bit is a flag
	In   Types  // types that have it; 0: all
	Each int    // bytes from one to the next of a field that is repeated, as Type.Each; 0: it is there once
	Role Role
}

// Types is a set of types by Value: 1<<data | 1<<ack.
type Types uint16

// Has reports whether a set has a type; an empty one has all.
func (s Types) Has(value uint8) bool { return s == 0 || s>>value&1 != 0 }

// Flag reports whether a field is one bit.
func (f *Field) Flag() bool { return bits.OnesCount8(f.Mask) == 1 }

// Told reports whether a line about a packet has the field; it has flags that are set
// in any case.
func (f *Field) Told() bool { return f.Role != NoRole && f.Role != Count && !f.Flag() }

// Bytes returns how many bytes a field lies in.
func (f *Field) Bytes() int { return max(f.Size, 1) }

// read returns the i-th value of a field.
func (f *Field) read(b []byte, i int) uint32 {
	b = b[f.At+i*f.Each:]
	switch {
	case f.Size == 4:
		return binary.BigEndian.Uint32(b)
	case f.Size == 2:
		return uint32(binary.BigEndian.Uint16(b))
	case f.Mask != 0:
		return uint32(b[0]&f.Mask) >> bits.TrailingZeros8(f.Mask)
	}
	return uint32(b[0])
}

// A Value is a field of one packet.
type Value struct {
	*Field
	N uint32
}

// String returns the value alone.
func (v Value) String() string { return strconv.FormatUint(uint64(v.N), 10) }

// Type returns the type of the header that b begins with, nil if that is of
// another version, of no type, or cut off.
func (h *Header) Type(b []byte) *Type {
	if h == nil || len(b) == 0 {
		return nil
	}
	value := b[0]
	if h.Version != 0 {
		if b[0]>>4 != h.Version {
			return nil
		}
		value &= 15
	}
	for i := range h.Types {
		t := &h.Types[i]
		if t.Value == value {
			if len(b) < t.Len || len(b) < t.Len+t.Each*h.count(t, b) {
				return nil
			}
			return t
		}
	}
	return nil
}

// count returns how many repeated parts a header has.
func (h *Header) count(t *Type, b []byte) int {
	if t.Each == 0 {
		return 0
	}
	n, _ := h.Value(t, b, Count)
	return int(n)
}

// Len returns the length of a header of a type, as Type returned it for b.
func (h *Header) Len(t *Type, b []byte) int { return t.Len + t.Each*h.count(t, b) }

// Value returns the field of a header that has a role. ok reports whether there
// is one.
func (h *Header) Value(t *Type, b []byte, role Role) (n uint32, ok bool) {
	for i := range h.Fields {
		if f := &h.Fields[i]; f.Role == role && f.In.Has(t.Value) {
			return f.read(b, 0), true
		}
	}
	return 0, false
}

// Values returns all fields of the header that b begins with, in the table's order:
// none if it is no header. Repeated ones follow each other.
func (h *Header) Values(b []byte) (list []Value) {
	t := h.Type(b)
	if t == nil {
		return nil
	}
	for i := range h.Fields {
		f := &h.Fields[i]
		if !f.In.Has(t.Value) {
			continue
		}
		n := 1
		if f.Each != 0 {
			n = h.count(t, b)
		}
		for j := range n {
			list = append(list, Value{f, f.read(b, j)})
		}
	}
	return list
}

// From returns which end of its message sent a packet of a type.
func (h *Header) From(t *Type, b []byte) Side {
	if t.From != Either {
		return t.From
	}
	if set, ok := h.Value(t, b, FromReceiver); ok && set != 0 {
		return Receiver
	}
	if set, ok := h.Value(t, b, FromSender); ok && set == 0 {
		return Receiver
	}
	return Sender
}
