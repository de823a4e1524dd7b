// Package sird is the SIRD transport of the NSDI '25 paper. Receivers schedule
// their downlink with credit, and adjust how much of it each sender may hold by
// what senders (csn) and the core (ECN) report.
//
// README.md in this folder stands beside the code: the paper's symbols and the
// names here, parameters with their sources, the exchange of packets after a
// loss, and where the paper and the released simulator differ. The code is split
// by role:
//
//	receiver.go, inbound.go    Algorithm 1: arriving data, B and the buckets
//	credit.go, aimd.go         Algorithm 1: whom to credit; the control loops
//	oldest.go                  a share of credit for the oldest message
//	sender.go, outbound.go     Algorithm 2: arriving credit, messages to send
//	uplink.go                  Algorithm 2: whom to send to, csn
//	acks.go                    acknowledgements, which ride on other packets
//	order.go                   packets that were overtaken: late or lost
//	stall.go, prefix.go        credit without progress, unscheduled bytes that do not arrive
//	receiverloss.go            what senders report, abandoned messages
//	announce.go, overtaken.go  messages that are announced again, or fail
//	senderloss.go              what is sent again, answers to the receiver
//	endpoint.go                what both roles share: parameters, control packets
//	lives.go, rates.go         restarts of hosts; links of different rates
//	header.go, params.go       wire format, parameters
//
// Credit travels as running totals. For each pair of hosts the receiver counts
// the wire bytes it has granted and the sender those it has spent; CREDIT,
// RESEND and the receiver's BUSY carry the first total, DATA and the sender's BUSY the
// second. A duplicate changes nothing and the next packet makes up for a lost one. An
// epoch number lets a receiver void all credit of a silent sender and start both totals
// again.
package sird

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/timer"
)

type (
	// Time is in nominal nanoseconds.
	Time = transport.Time
	// Bytes counts wire bytes where credit is meant, payload where data is.
	Bytes = transport.Bytes
)

// SIRD is the protocol at one host. It implements transport.Transport.
type SIRD struct {
	endpoint
	sender   sender
	receiver receiver

	sleep timer.Sleep
}

// New makes SIRD at one host. It fails, naming the parameter, on parameters that
// cannot work.
func New(env transport.Env, params *Params) (*SIRD, error) {
	e, err := newEndpoint(env, params)
	if err != nil {
		return nil, err
	}
	s := &SIRD{endpoint: e}
	s.sender = newSender(&s.endpoint)
	s.receiver = newReceiver(&s.endpoint)
	s.addGauges()
	return s, nil
}

func (s *SIRD) addGauges() {
	r := &s.receiver
	s.env.Sink.Gauge("credit_held", func() float64 { return float64(s.sender.held) })
	s.env.Sink.Gauge("credit_out", func() float64 { return float64(r.outstanding) })
	s.env.Sink.Gauge("credit_available", func() float64 { return float64(r.size - r.outstanding) })
}

// Send implements transport.Transport.
func (s *SIRD) Send(now Time, m transport.Message) {
	s.sleep.End()
	s.sender.begin(now, m)
}

// Receive implements transport.Transport. Packets without a valid header, or from
// an unknown host, are ignored.
func (s *SIRD) Receive(now Time, p *transport.Packet) {
	var h header
	if h.decode(p.Header()) != nil || !s.env.Knows(p.Peer) {
		return
	}
	s.sleep.End()
	if !s.admit(now, &h, p.Peer) {
		return
	}
	i := s.receiver.peer(p.Peer)
	o := s.sender.peer(p.Peer)
	acks := h.kind == ack || h.flags&rides != 0 && h.kind.rideAt() > 0
	if h.fromReceiver() || acks {
		s.sender.heard(now, o)
	}
	if s.params.BucketAging > 0 {
		i.age(now, s.params.BucketAging)
	}
	if h.samples(s.params.Samples) {
		i.sample(&s.params, p.CE, h.flags&csn != 0)
	}
	if acks {
		s.sender.onAcks(now, o, h.acked)
	}
	switch {
	case h.isData():
		s.receiver.onDataPacket(now, i, &h, p)
	case h.kind == credit, h.kind == busy && h.fromReceiver():
		s.sender.onCreditPacket(now, &h, p.Peer)
	case h.kind == resend:
		s.sender.onResendPacket(now, &h, p.Peer)
	case h.kind == busy:
		s.receiver.onBusyPacket(now, i, &h)
	}
	s.receiver.place(i)
	s.sender.place(o)
	if i.forgot {
		i.forgot = false
		s.control.Push(controlPacket{peer: p.Peer, kind: busy, flags: request, id: i.known})
	}
}

// Next implements transport.Transport: control packets first, then credit, then
// data.
func (s *SIRD) Next(now Time, p *transport.Packet) bool {
	s.sleep.End() // what is due may let credit or data go besides the packet that it sends
	s.sender.tick(now)
	s.receiver.tick(now)
	p.ECT = true
	p.Entropy = uint16(s.env.Rand.Uint32()) // spray over all paths
	p.Priority = s.levels.control
	if c, ok := s.control.Pop(); ok {
		s.sendControl(c, p)
		return true
	}
	at, ok := s.receiver.sendCredit(now, p)
	if ok {
		return true
	}
	if s.sender.sendData(now, p) {
		return true
	}
	s.sleep.Until(at)
	return false
}

// Wake implements transport.Transport.
func (s *SIRD) Wake() Time { return min(s.sleep.WakeAt(), s.sender.wakeAt(), s.receiver.wakeAt()) }

// sendControl sends a control packet with the totals of this moment.
func (s *SIRD) sendControl(c controlPacket, p *transport.Packet) {
	h := header{kind: c.kind, flags: c.flags, id: c.id, acked: acked{c.id, c.below}}
	p.Peer = c.peer
	switch {
	case h.kind == ack:
	case h.fromReceiver():
		i := s.receiver.peer(c.peer)
		if i.stamp(&h); h.kind == busy {
			h.length = uint32(i.known)
		}
	case h.kind == unscheduled:
		s.sender.announce(&h, c, p)
	default:
		s.sender.stampBusy(&h, c, p)
	}
	s.ride(&h, p)
	s.address(&h, c.peer)
	h.encode(p)
}
