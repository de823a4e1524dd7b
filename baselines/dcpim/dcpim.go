// Package dcpim is dcPIM (Cai, Arashloo, Agarwal, SIGCOMM 2022), after its
// released simulator: hosts match senders with receivers in rounds of control
// packets, as the ports of a switch are matched by parallel iterative matching,
// while data flows by the previous matching. README.md has its parameters and
// rules, and where they come from.
//
// The package is split by role:
//
//	timing.go     rounds, matching and data phases, from the topology and the time
//	matching.go   the receiver's part of a round: REQUEST, ACCEPT, the next data phase
//	granting.go   the sender's part of a round: GRANT, GRANTSR
//	tokens.go     TOKENs for matched senders, paced; token windows and timeouts
//	receiver.go   messages on their way in
//	sender.go     messages on their way out: RTS, data for tokens, short messages
//	order.go      which of them sends next, if as the released simulator has it
//	loss.go       RTS sent again, failed and abandoned messages
//	header.go, params.go
//
// A round takes beta times the fabric's control round trip. It begins with a
// REQUEST from every receiver to each sender that it expects more from; half a
// round later senders GRANT, and at the beginning of the next round receivers
// ACCEPT. Each host has k channels of 1/k of its link's rate as a sender, and k
// as a receiver. After r rounds the data phase of that matching begins, and so
// does the next matching.
//
// Hosts coordinate by these packets and the time alone. All hosts of a run share
// one clock, so there is no skew, which beta would otherwise have to cover. A
// packet that is late for its half of a round is ignored, as in the simulator.
//
// In addition to the simulator an RTS is acknowledged, and a message without an
// answer is announced again, and fails in the end.
package dcpim

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/sirdnode/transport/timer"
	"sirdbed/topo"
)

type (
	// Time is in nominal ns.
	Time = transport.Time
	// Bytes counts payload, or wire bytes where noted.
	Bytes = transport.Bytes
)

// DCPIM is the protocol at one host. It implements transport.Transport.
type DCPIM struct {
	env     transport.Env
	params  Params
	timing  timing
	framing topo.Framing
	mss     Bytes // payload of a full packet
	frame   Bytes // wire bytes of a full packet

	control   queue.FIFO[controlPacket]
	sender    sender
	receiver  receiver
	halfRound int64 // the last one that was handled
	sleep     timer.Sleep
}

// New makes dcPIM at one host. It fails, naming the parameter, on parameters
// that cannot work.
func New(env transport.Env, params *Params) (*DCPIM, error) {
	fr := framing(env.Fabric.Spec.MTU)
	s := &DCPIM{
		env: env, params: *params, framing: fr, mss: fr.MSS, frame: fr.Wire(fr.MSS), halfRound: -1,
	}
	if err := params.validate(s.frame); err != nil {
		return nil, err
	}
	rate := env.Fabric.Downlink(env.Self).Rate
	s.timing = newTiming(env.Fabric, rate, sizes{data: s.frame, control: topo.MinWire}, params)
	s.initSender()
	s.initReceiver(rate)
	return s, nil
}

// Send implements transport.Transport.
func (s *DCPIM) Send(now Time, m transport.Message) {
	s.sleep.End()
	if s.env.Fits(now, m, min(s.mss*maxPackets, layout.MaxMessage)) {
		s.sendMessage(now, m)
	}
}

// Receive implements transport.Transport. Malformed packets are ignored.
func (s *DCPIM) Receive(now Time, p *transport.Packet) {
	var h header
	if !s.env.Knows(p.Peer) || h.decode(p.Header()) != nil {
		return
	}
	s.sleep.End()
	s.advance(now - 1) // what arrives just as a half round begins belongs to it
	switch h.kind {
	case rts:
		s.receiveRTS(now, &h, p.Peer)
	case rtsAck:
		s.receiveRTSAck(now, &h, p.Peer)
	case request:
		s.receiveRequest(now, &h, p.Peer)
	case grant:
		s.receiveGrant(&h, p.Peer)
	case accept:
		s.receiveAccept(&h, p.Peer)
	case grantsr:
		s.receiveGrantSR(&h, p.Peer)
	case token:
		s.receiveToken(now, &h, p.Peer)
	case data:
		s.receiveData(now, &h, p)
	case ack:
		s.receiveAck(now, &h, p.Peer)
	case gone:
		s.receiveGone(&h, p.Peer)
	}
}

// Next implements transport.Transport: control packets first, then tokens, then
// data.
func (s *DCPIM) Next(now Time, p *transport.Packet) bool {
	s.advance(now)
	s.checkTimers(now)
	p.Entropy = uint16(s.env.Rand.Uint32()) // spray over all paths
	p.Priority = s.params.level(0)
	for {
		n, ok := s.control.Pop()
		if !ok {
			break
		}
		if s.fillControl(n, p) {
			return true
		}
	}
	at, ok := s.nextToken(now, p)
	if ok {
		return true
	}
	if s.nextData(now, p) {
		return true
	}
	s.sleep.Until(min(at, s.nextHalfRound(), s.nextTimer()))
	return false
}

// Wake implements transport.Transport.
func (s *DCPIM) Wake() Time { return s.sleep.WakeAt() }

// A controlPacket waits to be sent.
type controlPacket struct {
	peer transport.HostID
	header
}

// queueControl queues a control packet.
func (s *DCPIM) queueControl(peer transport.HostID, h header) { s.control.Push(controlPacket{peer, h}) }

// fillControl encodes a control packet. It returns false if the packet became
// pointless while it waited.
func (s *DCPIM) fillControl(n controlPacket, p *transport.Packet) bool {
	if n.kind == rts {
		o := s.sender.peers[n.peer]
		m := o.messages.Find(n.id)
		if m == nil {
			return false
		}
		n.length, n.tag, n.aboveFloor = uint32(m.Size), m.Tag, o.messages.AboveFloor(m.ID)
	}
	p.Peer = n.peer
	n.encode(p)
	return true
}
