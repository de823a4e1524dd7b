package flow

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
)

// A Segment is a data packet's bytes, by its header.
type Segment struct {
	ID         transport.MessageID
	Tag        transport.Tag
	Length     Bytes // of the message
	Offset     Bytes
	AboveFloor uint16 // see Pool.AboveFloor
}

// A Verdict is what an Inbox makes of a data packet.
type Verdict uint8

// The verdicts.
const (
	Malformed Verdict = iota // contradicts itself or what is known: ignored
	Fresh                    // has bytes that were missing; more are
	Duplicate                // has nothing new
	Completed                // has the last bytes that were missing
	Settled                  // of a message that was delivered before, or given up
)

// An Inbox is the receiving role of a host: it reassembles messages from the
// packets of all peers and delivers each once, however often and in whatever
// order its packets arrive. It remembers what it has delivered until the sender's
// packets show that the message is settled (README, Receiver).
type Inbox struct {
	sink  transport.Sink
	peers []*account.Incoming[Inbound] // by HostID, nil before their first packets
	free  queue.Free[Inbound]
}

// An Inbound is a message on its way in. It is valid until it is delivered or
// given up, which the Inbox alone decides: do not keep one across packets.
type Inbound struct {
	transport.Message
	arrived account.Spans
}

// Received returns the payload that has arrived without a gap from 0 on.
func (m *Inbound) Received() Bytes { return m.arrived.Contiguous() }

// Missing returns the payload still to arrive.
func (m *Inbound) Missing() Bytes { return m.Size - m.arrived.Total() }

// Gap returns the first range at or after from that is missing, false if none
// is.
func (m *Inbound) Gap(from Bytes) (Bytes, Bytes, bool) { return m.arrived.Gap(from, m.Size) }

var duplicates = transport.Counter{Name: "duplicate_data"}

// NewInbox makes the inbox of a host.
func NewInbox(env transport.Env) *Inbox {
	return &Inbox{sink: env.Sink, peers: make([]*account.Incoming[Inbound], len(env.Fabric.Hosts))}
}

// Find returns the message of that id being received from a peer, nil if there
// is none.
func (x *Inbox) Find(peer transport.HostID, id transport.MessageID) *Inbound {
	if in := x.peers[peer]; in != nil {
		return in.Find(id)
	}
	return nil
}

// Open returns how many messages are being received.
func (x *Inbox) Open() (n int) {
	for _, in := range x.peers {
		if in != nil {
			n += in.Len()
		}
	}
	return n
}

// Take takes a data packet: it hands new bytes to the Sink, and calls Delivered
// when they were the last ones. p.Peer must be a valid host. The message is nil
// if the verdict is Nonsense or Settled; after Completed it is valid until the
// next call.
//
// Packets must be cut at the same places whenever they are sent, so that a
// packet's bytes are all new or none is.
func (x *Inbox) Take(now Time, s Segment, p *transport.Packet) (*Inbound, Verdict) {
	n := Bytes(p.PayloadLen)
	if n < 1 || s.Offset < 0 || s.Offset+n > s.Length {
		return nil, Malformed
	}
	in := x.peers[p.Peer]
	if in == nil {
		account := account.NewIncoming[Inbound]()
		in = &account
		x.peers[p.Peer] = in
	}
	in.RaiseFloor(s.ID, s.AboveFloor, func(m *Inbound) { x.forget(in, m) })
	m := in.Find(s.ID)
	if m == nil {
		if in.IsDone(s.ID) {
			x.sink.Count(&duplicates, 1)
			return nil, Settled
		}
		m = x.begin(in, s, p.Peer)
	}
	if m.Size != s.Length {
		return nil, Malformed
	}
	if m.arrived.Add(s.Offset, s.Offset+n) == 0 {
		x.sink.Count(&duplicates, 1)
		return m, Duplicate
	}
	x.sink.Data(now, m.Message, s.Offset, int(n), p.Payload)
	if m.Missing() > 0 {
		return m, Fresh
	}
	in.Done(m.ID)
	x.forget(in, m)
	x.sink.Delivered(now, m.Message)
	return m, Completed
}

func (x *Inbox) begin(in *account.Incoming[Inbound], s Segment, peer transport.HostID) *Inbound {
	m := x.free.Get()
	m.arrived.Reset()
	m.Message = transport.Message{ID: s.ID, Tag: s.Tag, Peer: peer, Size: s.Length}
	in.Add(m.ID, m)
	return m
}

// forget drops the state of a message, for another one to use.
func (x *Inbox) forget(in *account.Incoming[Inbound], m *Inbound) {
	in.Forget(m.ID)
	x.free.Put(m)
}
