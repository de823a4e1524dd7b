// Package homa is the Homa transport (Montazeri et al., SIGCOMM 2018) as SIRD's
// evaluation runs it (paper, section 6.2), with the loss recovery of
// HomaModule, which the evaluation's port lacks. README.md has its parameters
// and rules, and where they come from.
//
// A message's first RTTbytes are sent at once, at a priority that depends on
// the bytes left. The rest is granted packet by packet by its receiver, to the
// k senders whose messages have the fewest bytes still to be granted. That is
// more than the downlink can carry, so that it stays full when some of them are
// busy elsewhere (controlled overcommitment). Both ends prefer the shortest
// message.
//
//	receiver.go, inbound.go, grant.go   arriving data, whom to grant
//	downlink.go                         whether a full downlink explains a delay
//	sender.go, outbound.go              what to send next
//	cutoffs.go                          priorities of unscheduled data
//	loss.go                             RESEND, NEED_ACK, BUSY, failed messages
//	header.go, params.go, control.go    wire format, parameters, control packets
//
// A GRANT carries the offset up to which to send: a duplicate changes nothing,
// and the next one makes up for a lost one.
package homa

import (
	"sirdbed/sirdnode/transport"
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

// highest is the most urgent priority, that of control packets and of the first
// level of unscheduled data.
const highest uint8 = priorities - 1

// Homa is the protocol at one host. It implements transport.Transport.
type Homa struct {
	env      transport.Env
	params   Params
	framing  topo.Framing
	mss      Bytes   // payload of a full packet
	cutoffs  []Bytes // between the priorities of unscheduled data
	levels   int     // priorities of scheduled data
	rttBytes Bytes   // RTTbytes in whole packets

	control  queue.FIFO[controlPacket]
	sender   sender
	receiver receiver

	lossCheck timer.Watch
	sleep     timer.Sleep
}

// New makes Homa at one host. It fails, naming the parameter, on parameters that
// cannot work.
func New(env transport.Env, params *Params) (*Homa, error) {
	fr := framing(env.Fabric.Spec.MTU)
	if err := params.validate(fr.MSS); err != nil {
		return nil, err
	}
	cutoffs, err := params.cutoffs(fr)
	if err != nil {
		return nil, err
	}
	h := &Homa{
		env: env, params: *params, framing: fr, mss: fr.MSS, cutoffs: cutoffs,
		levels: priorities - params.unscheduledLevels(), rttBytes: params.RTTBytes / fr.MSS * fr.MSS,
		lossCheck: timer.Watch{Every: params.LossTimeout / 2},
	}
	h.initSender()
	h.initReceiver()
	return h, nil
}

// Receive implements transport.Transport. Malformed packets are ignored.
func (h *Homa) Receive(now Time, p *transport.Packet) {
	var hd header
	if hd.decode(p.Header()) != nil || !h.env.Knows(p.Peer) {
		return
	}
	h.sleep.End()
	h.receiver.downlinkBytes += p.WireLen()
	switch hd.kind {
	case data:
		h.receiveData(now, &hd, p)
	case grant:
		h.receiveGrant(now, &hd, p.Peer)
	case resend:
		h.receiveResend(now, &hd, p.Peer)
	case busy:
		h.receiveBusy(now, &hd, p.Peer)
	case ack:
		h.receiveAck(now, &hd, p.Peer)
	case needAck:
		h.receiveNeedAck(&hd, p.Peer)
	case unknown:
		h.receiveUnknown(now, &hd, p.Peer)
	}
	h.lossCheck.Arm(now)
}

// Next implements transport.Transport: control packets first, then grants, then
// data.
func (h *Homa) Next(now Time, p *transport.Packet) bool {
	if h.lossCheck.Due(now) {
		h.sleep.End() // what is found may be more than the packet that this call gives
		h.checkLoss(now)
	}
	p.Entropy = uint16(h.env.Rand.Uint32()) // spray over all paths
	p.Priority = highest
	if n, ok := h.control.Pop(); ok {
		n.fill(p)
		return true
	}
	at, ok := h.nextGrant(now, p)
	if ok || h.nextData(now, p) {
		return true
	}
	h.sleep.Until(at)
	return false
}

// Wake implements transport.Transport.
func (h *Homa) Wake() Time { return min(h.sleep.WakeAt(), h.lossCheck.At()) }

// startsPacket reports whether a packet of the message begins at offset,
// endsPacket whether one ends there.
func (h *Homa) startsPacket(offset, size Bytes) bool { return offset < size && offset%h.mss == 0 }
func (h *Homa) endsPacket(offset, size Bytes) bool {
	return offset > 0 && (offset == size || offset < size && offset%h.mss == 0)
}
