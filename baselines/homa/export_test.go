package homa

import (
	"errors"
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/headertest"
	"sirdbed/topo"
	"sirdbed/traffic"
)

// Idle is Leaks as an error, for modeltest.
func (h *Homa) Idle() error {
	if leak := h.Leaks(); leak != "" {
		return errors.New(leak)
	}
	return nil
}

// Leaks describes state that is left at either half of a host when no message
// is under way; "" when all is released.
func (h *Homa) Leaks() string {
	s, r := &h.sender, &h.receiver
	if s.ready.Len() != 0 || len(s.retransmit) != 0 || s.unsent != 0 {
		return fmt.Sprintf("sender: %d messages ready, %d ranges, %d unsent", s.ready.Len(), len(s.retransmit),
			s.unsent)
	}
	for _, o := range s.peers {
		if o != nil && o.messages.Len() != 0 {
			return fmt.Sprintf("sender's peer %d: %d messages", o.id, o.messages.Len())
		}
	}
	if r.outstanding != 0 || len(r.ranking) != 0 || h.control.Len() != 0 {
		return fmt.Sprintf("receiver: %d outstanding, %d to grant, %d control packets", r.outstanding, len(r.ranking),
			h.control.Len())
	}
	for _, i := range r.known {
		if i.messages.Len() != 0 || i.ungranted.Len() != 0 || i.rank != 0 {
			return fmt.Sprintf("receiver's peer %d: %d messages, %d to grant", i.id, i.messages.Len(),
				i.ungranted.Len())
		}
	}
	return h.Broken()
}

// Broken describes a wrong sum or order, which no packet may cause; "" when all
// are right.
func (h *Homa) Broken() string {
	var outstanding, unsent Bytes
	ranked := 0
	for _, i := range h.receiver.known {
		for m := range i.messages.All() {
			outstanding += m.outstanding()
			if m.granted > m.Size || m.outstanding() < 0 || m.from != i || m.slot.In() != (m.toGrant() > 0) {
				return fmt.Sprintf("message %d from %d: granted %d, got %d of %d", m.ID, i.id, m.granted,
					m.received.Total(), m.Size)
			}
		}
		if (i.rank > 0) != (i.ungranted.Len() > 0) {
			return fmt.Sprintf("sender %d: place %d with %d messages to grant", i.id, i.rank, i.ungranted.Len())
		}
		if i.rank > 0 {
			ranked++
		}
	}
	for n, i := range h.receiver.ranking {
		if i.rank != n+1 || n > 0 && i.precedes(h.receiver.ranking[n-1]) {
			return fmt.Sprintf("rank %d: sender %d, which has rank %d", n+1, i.id, i.rank)
		}
	}
	ready := 0
	for _, o := range h.sender.peers {
		if o == nil {
			continue
		}
		for m := range o.messages.All() {
			unsent += m.unsent()
			if m.sent > m.granted || m.granted > m.Size || m.slot.In() != (m.sent < m.granted) || m.to != o {
				return fmt.Sprintf("message %d to %d: sent %d, granted %d of %d", m.ID, o.id, m.sent, m.granted, m.Size)
			}
			if m.slot.In() {
				ready++
			}
		}
	}
	if outstanding != h.receiver.outstanding || unsent != h.sender.unsent || ranked != len(h.receiver.ranking) ||
		ready != h.sender.ready.Len() {
		return fmt.Sprintf(
			"outstanding %d, by message %d; unsent %d, by message %d; %d senders ranked of %d; %d ready of %d",
			h.receiver.outstanding, outstanding, h.sender.unsent, unsent, len(h.receiver.ranking), ranked,
			h.sender.ready.Len(), ready)
	}
	return ""
}

// Outstanding returns the payload granted and not yet received of a message, false if
// there is no such message under way.
func (h *Homa) Outstanding(from topo.HostID, id transport.MessageID) (Bytes, bool) {
	if i := h.receiver.peers[from]; i != nil && i.messages.Find(id) != nil {
		return i.messages.Find(id).outstanding(), true
	}
	return 0, false
}

// Remembered returns how many delivered messages of a sender are remembered one
// by one.
func (h *Homa) Remembered(from topo.HostID) int { return h.receiver.peers[from].messages.Remembered() }

// MostOutstanding returns the largest Flight of any message.
func (h *Homa) MostOutstanding() (most Bytes) {
	for _, i := range h.receiver.known {
		for m := range i.messages.All() {
			most = max(most, m.outstanding())
		}
	}
	return most
}

// Cutoffs returns the cutoffs of a distribution for a number of levels.
func Cutoffs(d *traffic.Distribution, levels int, fr topo.Framing, rttBytes, tail Bytes) []Bytes {
	c := census{sizes: d.Points(), framing: fr, rttBytes: rttBytes, tail: tail}
	return c.cutoffs(levels)
}

// Cuts returns the cutoffs in use.
func (h *Homa) Cuts() []Bytes { return h.cutoffs }

// A Header is a header as tests read and write it.
type Header struct {
	Kind                    string
	FromSender              bool
	Priority                uint8
	ID                      transport.MessageID
	Offset, Length          uint32
	AboveFloor, Unscheduled uint16
}

// Parse reads a header; its Kind is "?" if that is impossible.
func Parse(b []byte) Header {
	var h header
	if h.decode(b) != nil {
		return Header{Kind: "?"}
	}
	return Header{
		Kind: kindNames[h.kind], FromSender: h.fromSender, Priority: h.priority, ID: h.id, Offset: h.offset,
		Length: h.length, AboveFloor: h.aboveFloor, Unscheduled: h.unscheduled,
	}
}

// Encode writes a header into a packet.
func (h Header) Encode(p *transport.Packet) {
	e := header{fromSender: h.FromSender, priority: h.Priority, id: h.ID, offset: h.Offset, length: h.Length,
		aboveFloor: h.AboveFloor, unscheduled: h.Unscheduled}
	for k, name := range kindNames {
		if name == h.Kind {
			e.kind = k
		}
	}
	e.encode(p)
}

var kindNames = headertest.Names[kind](&table)
