// Package sird is the SIRD transport (paper.tex; the published figures' details
// in protocols.md section 1): receivers schedule their downlink with credit,
// and adjust how much of it each sender may hold by what senders (csn) and the
// core (ECN) report.
//
// The package is split by role:
//
//	receiver.go, inbound.go, credit.go   Algorithm 1: buckets, whom to credit
//	aimd.go                              the two control loops
//	sender.go, outbound.go, uplink.go    Algorithm 2: spending credit, csn, policy
//	loss.go                              silence, RESEND, reclaim, giving up
//	header.go, params.go                 wire format, parameters
//
// Credit travels as running totals. For each pair of hosts the receiver counts
// the wire bytes it has granted and the sender those it has spent; CREDIT and
// RESEND carry the first total, DATA and BUSY the second. A duplicate changes
// nothing and the next packet heals a loss. An epoch number lets a receiver
// declare all credit held by a silent sender void and start both totals again.
package sird

import (
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/sirdnode/transport/timer"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

type (
	// Time and Bytes are nominal nanoseconds and bytes.
	Time = transport.Time
	// Bytes counts wire bytes where credit is meant, payload where data is.
	Bytes = transport.Bytes
)

// SIRD is the protocol at one host. It implements transport.Transport.
type SIRD struct {
	env    transport.Env
	params Params
	levels struct{ control, unscheduled, scheduled uint8 } // priorities

	framing topo.Framing
	mss     Bytes // payload of a full packet
	frame   Bytes // wire bytes of a full packet

	control  queue.FIFO[note]
	sender   sender
	receiver receiver

	// Next found nothing to send, and nothing has happened since. Then only
	// time can change that: at wake.
	quiet  bool
	wake   Time
	silent timer.Watch // for silence
}

// New makes SIRD at one host. It fails, naming the parameter, on parameters that
// cannot work.
func New(env transport.Env, params *Params) (*SIRD, error) {
	fr := framing(env.Fabric.Spec.MTU)
	if fr.MSS < 1 {
		return nil, fmt.Errorf("an MTU of %v has no room for SIRD's headers", env.Fabric.Spec.MTU)
	}
	s := &SIRD{env: env, params: *params, framing: fr, mss: fr.MSS, frame: fr.Wire(fr.MSS), wake: units.Never}
	s.silent.Every = params.LossTimeout / 2
	if err := params.validate(s.frame); err != nil {
		return nil, err
	}
	switch params.Priorities {
	case "data":
		s.levels.control, s.levels.unscheduled = 1, 1
	case "control":
		s.levels.control = 1
	}
	s.initSender()
	s.initReceiver()
	return s, nil
}

// wireOf returns what a DATA packet with n bytes of payload costs.
func (s *SIRD) wireOf(n Bytes) Bytes { return s.framing.Wire(n) }

// wireOfRange returns what the DATA packets of n bytes of a message cost, cut
// at full packets.
func (s *SIRD) wireOfRange(n Bytes) Bytes { return s.framing.WireOf(n) }

// Receive implements transport.Transport. Packets that make no sense are
// ignored.
func (s *SIRD) Receive(now Time, p *transport.Packet) {
	var h header
	if h.decode(p.Header()) != nil || !s.env.Knows(p.Peer) {
		return
	}
	s.quiet = false
	i := s.inPeer(p.Peer)
	i.heard, i.silent = now, false
	if s.params.Samples == "all" || h.kind == data {
		i.sample(&s.params, p.CE, h.flags&csn != 0)
	}
	switch h.kind {
	case data:
		s.receiveData(now, &h, p)
	case credit:
		s.receiveCredit(now, &h, p.Peer)
	case resend:
		s.receiveResend(now, &h, p.Peer)
	case ack:
		s.receiveAck(now, &h, p.Peer)
	case busy:
		s.receiveBusy(now, &h, p.Peer)
	}
	s.silent.Arm(now)
}

// Next implements transport.Transport: control packets first, then credit, then
// data.
func (s *SIRD) Next(now Time, p *transport.Packet) bool {
	if s.silent.Due(now) {
		s.lookForSilence(now)
	}
	p.ECT = true
	p.Entropy = uint16(s.env.Rand.Uint32()) // spray over all paths
	p.Priority = s.levels.control
	if c, ok := s.control.Pop(); ok {
		s.fillControl(c, p)
		return true
	}
	at, ok := s.nextCredit(now, p)
	if ok {
		return true
	}
	if s.nextData(now, p) {
		return true
	}
	s.quiet, s.wake = true, at
	return false
}

// Wake implements transport.Transport.
func (s *SIRD) Wake() Time {
	if !s.quiet {
		return 0
	}
	return min(s.wake, s.silent.At())
}

// A note is a control packet that waits to be sent. The credit total is filled
// in when it leaves.
type note struct {
	peer   transport.HostID
	kind   kind
	flags  flags
	id     transport.MessageID
	offset Bytes
	length Bytes
}

func (s *SIRD) fillControl(n note, p *transport.Packet) {
	h := header{kind: n.kind, flags: n.flags, id: n.id, offset: uint32(n.offset), length: uint32(n.length)}
	switch n.kind {
	case credit, resend, ack:
		in := s.inPeer(n.peer)
		h.epoch, h.credit = in.epoch, in.granted
	case busy:
		if n.flags&request != 0 {
			in := s.inPeer(n.peer)
			h.epoch, h.credit = in.epoch, in.granted
			break
		}
		out := s.outPeer(n.peer)
		h.epoch, h.credit = out.epoch, out.spent
	case data: // a request for credit, or a first packet again
		out := s.outPeer(n.peer)
		m := out.messages.Find(n.id)
		if m == nil {
			// Acknowledged or given up while the note waited: say what is left.
			h.kind = busy
			h.flags = 0
			h.epoch, h.credit = out.epoch, out.spent
			break
		}
		s.dataHeader(&h, out, m)
		p.ID, p.Tag, p.PayloadLen = m.ID, m.Tag, int(n.length)
	}
	p.Peer = n.peer
	h.encode(p)
}
