// Package xpass is ExpressPass (Cho, Jang and Han, SIGCOMM 2017) as SIRD's
// evaluation ran it (paper, section 6.2): a receiver sends credits, each of
// which lets one data packet come back. Every port limits credits to the rate
// at which their data fills the link in the other direction, and drops the
// rest; the share dropped tells the receiver how fast to send them. README.md
// has its parameters and rules, and where they come from.
//
// The package is split by role:
//
//	inbound.go, feedback.go    the receiver: credit pacing, the rate's control loop
//	outbound.go, loss.go       the sender: data for credits, requests, stops, timeouts
//	path.go                    credits and data over the same links
//	header.go, params.go       wire format, parameters
//
// The released simulator assumes that no data is lost. Here a receiver requests
// missing bytes with a NACK when later ones arrive, or when a CREDIT_STOP shows that
// they were sent, and acknowledges a complete message. A sender without an answer
// repeats its CREDIT_REQUEST or CREDIT_STOP.
package xpass

import (
	"sirdbed/baselines/flow"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/topo/units"
)

type (
	// Time is in nominal ns.
	Time = transport.Time
	// Bytes counts payload, or wire bytes in the sizes of credits.
	Bytes = transport.Bytes
)

// XPass is ExpressPass at one host. It implements transport.Transport.
type XPass struct {
	env    transport.Env
	params Params

	mss        Bytes
	creditSize float64 // wire bytes of a credit, on average
	highest    float64 // highest rate of credits, in wire bytes per second
	slack      Time    // how late credits may be sent without losing rate

	queued queue.FIFO[queuedPacket]

	outPeers    []*outPeer           // by HostID, nil before the first message to them
	timers      queue.Heap[outbound] // by expires
	inPeers     []*inPeer            // by HostID, nil before their first packets
	crediting   queue.Heap[inbound]  // by when their next credit is due
	inbox       *flow.Inbox
	sinceGauged struct{ total, lost int64 } // credits since the gauge was last read
}

// New makes ExpressPass at one host. It fails, naming the parameter, on
// parameters that cannot work.
func New(env transport.Env, params *Params) (*XPass, error) {
	if err := params.validate(); err != nil {
		return nil, err
	}
	f := env.Fabric
	x := &XPass{
		env: env, params: *params, mss: framing(f.Spec.MTU).MSS, creditSize: params.CreditSize(),
		highest:  float64(f.Uplink(env.Self).Rate) / 8 * CreditShare(f, params),
		outPeers: make([]*outPeer, len(f.Hosts)), inPeers: make([]*inPeer, len(f.Hosts)),
		timers:    queue.NewHeap(func(c *outbound) *queue.Slot { return &c.slot }),
		crediting: queue.NewHeap(func(c *inbound) *queue.Slot { return &c.slot }),
		inbox:     flow.NewInbox(env),
	}
	x.slack = Time(float64(params.Queue) * x.creditSize / x.highest * float64(units.Second))
	x.addGauges()
	return x, nil
}

// packets returns the number of packets that carry n bytes.
func (x *XPass) packets(n Bytes) int64 { return int64((n + x.mss - 1) / x.mss) }

// Receive implements transport.Transport. Malformed packets are ignored.
func (x *XPass) Receive(now Time, p *transport.Packet) {
	var h header
	if h.decode(p.Header()) != nil || !x.env.Knows(p.Peer) ||
		int(h.conn) >= x.params.Connections {
		return
	}
	switch h.kind {
	case request, data, stop:
		x.receiveFromSender(now, &h, p)
	default:
		x.receiveFromReceiver(now, &h, p.Peer)
	}
}

// Next implements transport.Transport: credits first, which the port limits in a
// class of their own, then data and control packets in order.
func (x *XPass) Next(now Time, p *transport.Packet) bool {
	if x.nextCredit(now, p) {
		return true
	}
	x.checkTimers(now)
	for {
		n, ok := x.queued.Pop()
		if !ok {
			return false
		}
		if x.fill(now, &n, p) {
			return true
		}
	}
}

// Wake implements transport.Transport.
func (x *XPass) Wake() Time {
	if x.queued.Len() > 0 {
		return 0
	}
	at := units.Never
	if c := x.crediting.Top(); c != nil {
		at = c.due
	}
	if c := x.timers.Top(); c != nil {
		at = min(at, c.expires)
	}
	return at
}

// A queuedPacket waits to be sent, as it would in a NIC's queue.
type queuedPacket struct {
	kind   kind
	gone   bool // STOP
	peer   transport.HostID
	conn   uint16
	id     transport.MessageID
	offset Bytes // DATA, NACK: of the range; STOP: payload sent before it
	length Bytes // DATA, NACK: of the range
	seq    uint32
	time   uint32
}

// fill encodes a queued packet. It returns false if the packet has become
// pointless.
func (x *XPass) fill(now Time, n *queuedPacket, p *transport.Packet) bool {
	h := header{kind: n.kind, gone: n.gone, conn: n.conn, id: n.id}
	sender, receiver := x.env.Self, n.peer
	switch n.kind {
	case nack:
		h.offset, h.length = uint32(n.offset), uint32(n.length)
		fallthrough
	case ack, busy:
		sender, receiver = receiver, sender
	default:
		if !x.fillOutbound(now, n, &h, p) {
			return false
		}
	}
	x.address(p, n.peer, sender, receiver, n.conn)
	h.encode(p)
	return true
}
