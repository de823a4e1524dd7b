package sird

import (
	"errors"
	"fmt"
	"strings"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/headertest"
)

// Idle is Leaks as an error, for modeltest.
func (s *SIRD) Idle() error {
	if leak := s.Leaks(); leak != "" {
		return errors.New(leak)
	}
	return nil
}

// Leaks describes credit that has not been returned, in either role, when nothing is
// under way; "" if all has.
func (s *SIRD) Leaks() string {
	switch {
	case s.sender.held != 0:
		return fmt.Sprintf("sender holds %d of credit", s.sender.held)
	case s.sender.unscheduled != 0:
		return fmt.Sprintf("sender counts %d unscheduled bytes", s.sender.unscheduled)
	case s.sender.messages != 0:
		return fmt.Sprintf("sender counts %d messages", s.sender.messages)
	case s.receiver.outstanding != 0:
		return fmt.Sprintf("receiver counts %d of B in use", s.receiver.outstanding)
	}
	for _, o := range s.sender.peers {
		if o != nil && (o.held() != 0 || o.unscheduled != 0 || o.messages.Len() != 0 || o.retransmit.Len() != 0) {
			return fmt.Sprintf("sender's peer %d: held %d, unscheduled %d, %d messages, %d ranges", o.id, o.held(),
				o.unscheduled, o.messages.Len(), o.retransmit.Len())
		}
	}
	for _, i := range s.receiver.known {
		if i.outstanding() != 0 || i.charged != 0 || i.messages.Len() != 0 {
			return fmt.Sprintf("receiver's peer %d: in flight %d, charged %d, %d messages", i.id, i.outstanding(),
				i.charged, i.messages.Len())
		}
	}
	return ""
}

// Used returns how much of B is out, Held the credit in the sending role, and Bucket
// the size of a sender's bucket.
func (s *SIRD) Used() Bytes         { return s.receiver.outstanding }
func (s *SIRD) Held() Bytes         { return s.sender.held }
func (s *SIRD) Bucket(id int) Bytes { return s.receiver.peers[id].bucket() }

// InFlight returns the credit out to a sender, unscheduled bytes expected from
// it included; HeldFrom the credit that the sending role has from a receiver.
func (s *SIRD) InFlight(id int) Bytes {
	if i := s.receiver.peers[id]; i != nil {
		return i.outstanding()
	}
	return 0
}

func (s *SIRD) HeldFrom(id int) Bytes {
	if o := s.sender.peers[id]; o != nil {
		return o.held()
	}
	return 0
}

// Broken describes a sum that does not add up, which no packet may cause; "" if all
// do.
func (s *SIRD) Broken() string {
	var used, held, unscheduled Bytes
	messages := 0
	for _, i := range s.receiver.known {
		var charged Bytes
		for m := range i.messages.All() {
			charged += m.charged
			if m.charged < 0 || m.granted < 0 || m.granted > m.Size || m.remaining() < 0 {
				return fmt.Sprintf("message %d from %d: charged %d, granted %d, remaining %d of %d", m.ID, i.id,
					m.charged, m.granted, m.remaining(), m.Size)
			}
		}
		if credit := i.outstanding() - i.charged; credit < 0 || i.charged != charged {
			return fmt.Sprintf("sender %d: credit %d, charged %d, by its messages %d", i.id, credit, i.charged, charged)
		}
		used += i.charged
		if !i.suspended {
			used += i.credit()
		}
	}
	for _, o := range s.sender.peers {
		if o == nil {
			continue
		}
		if o.held() < 0 || o.unscheduled < 0 {
			return fmt.Sprintf("receiver %d: held %d, unscheduled %d", o.id, o.held(), o.unscheduled)
		}
		held, unscheduled = held+o.held(), unscheduled+o.unscheduled
		for m := range o.messages.All() {
			if m.unsent() > 0 || m.repeats > 0 {
				messages++
			}
		}
	}
	switch {
	case used != s.receiver.outstanding:
		return fmt.Sprintf("%d of B in use, by sender %d", s.receiver.outstanding, used)
	case held != s.sender.held || unscheduled != s.sender.unscheduled || messages != s.sender.messages:
		return fmt.Sprintf("held %d by receiver %d, unscheduled %d by receiver %d, messages %d by receiver %d",
			s.sender.held, held, s.sender.unscheduled, unscheduled, s.sender.messages, messages)
	}
	return ""
}

// Excess is by how much more credit is out, suspended credit included, than may be: B, and
// a BDP for each time that a sender's was suspended, and a BDP to each sender.
func (s *SIRD) Excess(suspensions int64) (excess Bytes) {
	all := Bytes(0)
	for _, i := range s.receiver.known {
		all += i.credit()
		excess = max(excess, i.credit()-s.params.BDP)
	}
	return max(excess, all-s.receiver.size-Bytes(suspensions)*s.params.BDP)
}

// Minted describes credit that a sender has and its receiver never gave, or has back; "" if there is none. They
// are compared while both know each other's life.
func Minted(receiver, sender *SIRD) string {
	r, s := receiver.env.Self, sender.env.Self
	i, o := receiver.receiver.peers[s], sender.sender.peers[r]
	if i == nil || o == nil || receiver.lives[s].now != sender.env.Incarnation ||
		sender.lives[r].now != receiver.env.Incarnation {
		return ""
	}
	if age := (i.epoch - o.epoch) & 15; age > 0 && age < 8 {
		return "" // the sender is yet to drop what it has
	} else if age > 0 {
		return fmt.Sprintf("sender %d is in epoch %d, its receiver %d in %d", s, o.epoch, r, i.epoch)
	}
	if int32(i.granted-o.granted) < 0 || int32(o.spent-i.spent) < 0 {
		return fmt.Sprintf("sender %d: granted %d, spent %d; its receiver %d: granted %d, spent %d", s, o.granted,
			o.spent, r, i.granted, i.spent)
	}
	return ""
}

// Charged returns the part of B that unscheduled bytes take up.
func (s *SIRD) Charged() (sum Bytes) {
	for _, i := range s.receiver.known {
		sum += i.charged
	}
	return sum
}

// Epoch returns the epoch of the credit from this receiver to a sender, and
// SenderEpoch what the sender takes it to be.
func (s *SIRD) Epoch(id int) uint8       { return s.receiver.peers[id].epoch }
func (s *SIRD) SenderEpoch(id int) uint8 { return s.sender.peers[id].epoch }

// ControlQueue returns how many control packets wait.
func (s *SIRD) ControlQueue() int { return s.control.Len() }

// A Header is a header as tests read and write it. Unscheduled packets and requests are DATA that
// is not Scheduled.
type Header struct {
	From, To                      transport.Incarnation
	Kind                          string
	CSN, Scheduled, Request, Gone bool
	Epoch                         uint8
	ID                            transport.MessageID
	Credit, Offset, Length        uint32
	AboveFloor, Prefix            uint16

	// Acknowledgements: with Rides, or of an ACK those below ID.
	Rides bool
	Acked transport.MessageID
	Below uint32
}

// Tells reports whether the packet acknowledges a message.
func (h Header) Tells(id transport.MessageID) bool {
	if h.Kind != "ACK" && !h.Rides {
		return false
	}
	d := h.Acked - id
	return d == 0 || d <= ackWindow && h.Below>>(d-1)&1 != 0
}

// Pinned returns how many ids the sending role keeps for a receiver from the lowest that is not
// acknowledged on, and Remembered how many delivered ones the receiving role does of a sender.
func (s *SIRD) Pinned(id int) int {
	o := s.sender.peers[id]
	return int(o.messages.Next() - o.messages.Floor())
}
func (s *SIRD) Remembered(id int) int { return s.receiver.peers[id].messages.Remembered() }

// Parse reads a header; its Kind is "?" if that is impossible.
func Parse(b []byte) Header {
	var h header
	if h.decode(b) != nil {
		return Header{Kind: "?"}
	}
	return Header{
		Kind: strings.Replace(kindNames[h.kind], "UNSCHEDULED", "DATA", 1), CSN: h.flags&csn != 0,
		Scheduled: h.kind == data, From: h.from, To: h.to,
		Request: h.flags&request != 0,
		Gone:    h.flags&gone != 0, Epoch: h.epoch, ID: h.id, Credit: h.credit, Offset: h.offset, Length: h.length,
		AboveFloor: h.aboveFloor, Prefix: h.prefix,
		Rides: h.flags&rides != 0 && h.kind.rideAt() > 0, Acked: h.acked.top, Below: h.acked.below,
	}
}

// Encode writes a header into a packet.
func (h Header) Encode(p *transport.Packet) {
	e := header{from: h.From, to: h.To, epoch: h.Epoch, id: h.ID, credit: h.Credit, offset: h.Offset, length: h.Length,
		aboveFloor: h.AboveFloor, prefix: h.Prefix, acked: acked{h.Acked, h.Below}}
	for k, name := range kindNames {
		if name == h.Kind {
			e.kind = k
		}
	}
	if e.kind == data && !h.Scheduled {
		e.kind = unscheduled
	}
	for flag, set := range map[flags]bool{csn: h.CSN, request: h.Request, gone: h.Gone, rides: h.Rides} {
		if set {
			e.flags |= flag
		}
	}
	e.encode(p)
}

// NewLoops gives tests the control loops of one sender, and Loops those that a
// receiver has for one.
func NewLoops(p *Params, frame Bytes) *loops { l := newLoops(p, p.BDP, frame); return &l }
func (s *SIRD) Loops(id int) *loops          { return &s.receiver.peers[id].loops }

// Sample feeds a packet.
func (l *loops) Sample(p *Params, ce, csn bool) { l.sample(p, ce, csn) }

// Buckets, Alphas and Window return the state of the loops.
func (l *loops) Buckets() (sender, net Bytes)  { return l.sender.bucket, l.net.bucket }
func (l *loops) Alphas() (sender, net float64) { return l.sender.alpha, l.net.alpha }
func (l *loops) Window() int                   { return l.window }

// SetBuckets sets both buckets.
func (l *loops) SetBuckets(sender, net Bytes) { l.sender.bucket, l.net.bucket = sender, net }

var kindNames = headertest.Names[kind](&table)
