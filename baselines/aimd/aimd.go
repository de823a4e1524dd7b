// Package aimd is a small rate-based transport: the worked example of
// baselines/README.md. It is complete and reliable, and taken from no paper.
//
// A sender has a rate towards each receiver. Every DATA packet is answered by
// an ACK that echoes the packet's ECN mark. An unloaded round trip without a
// mark adds Step to the rate, one with a mark cuts it by Cut. Messages to a
// receiver are sent one after another; what has not been acknowledged for
// Timeout is sent again.
package aimd

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/topo/units"
)

type (
	// Time is nominal ns.
	Time = transport.Time
	// Bytes counts payload, or wire bytes in rates.
	Bytes = transport.Bytes
)

// AIMD is the protocol at one host. It implements transport.Transport.
type AIMD struct {
	env    transport.Env
	params Params
	mss    Bytes

	out  []*flow    // by HostID, nil before the first message to them
	in   []*inbound // by HostID, nil before their first packets
	acks queue.FIFO[reply]
	turn int // the receiver served last: they take turns, packet by packet
}

// A reply is an ACK that waits to be sent.
type reply struct {
	peer transport.HostID
	header
}

// New makes the protocol at one host.
func New(env transport.Env, params *Params) (*AIMD, error) {
	if err := params.validate(); err != nil {
		return nil, err
	}
	n := len(env.Fabric.Hosts)
	return &AIMD{
		env: env, params: *params, mss: framing(env.Fabric.Spec.MTU).MSS,
		out: make([]*flow, n), in: make([]*inbound, n),
	}, nil
}

// Send implements transport.Transport: messages to one receiver are queued.
func (a *AIMD) Send(now Time, m transport.Message) {
	if !a.env.Fits(now, m, layout.MaxMessage) {
		return
	}
	f := a.out[m.Peer]
	if f == nil {
		f = &flow{
			rate:      float64(a.env.Fabric.Uplink(a.env.Self).Rate),
			roundTrip: a.env.Fabric.CreditLoop(a.env.Self, m.Peer),
		}
		a.out[m.Peer] = f
		a.env.Sink.Gauge("rate/"+a.env.Fabric.HostName(m.Peer), func() float64 { return f.rate })
	}
	f.queue.Push(m)
}

// Receive implements transport.Transport.
func (a *AIMD) Receive(now Time, p *transport.Packet) {
	var h header
	if h.decode(p.Header()) != nil || !a.env.Knows(p.Peer) {
		return
	}
	switch h.kind {
	case data:
		if a.takeData(now, &h, p) {
			a.acks.Push(reply{p.Peer, header{kind: ack, marked: p.CE, id: h.id, offset: h.offset}})
		}
	case ack:
		if f := a.out[p.Peer]; f != nil {
			a.takeAck(now, f, &h)
		}
	}
}

// Next implements transport.Transport: ACKs first, then the receivers in turn,
// each at its own rate.
func (a *AIMD) Next(now Time, p *transport.Packet) bool {
	p.ECT = true
	if r, ok := a.acks.Pop(); ok {
		p.Peer = r.peer
		r.encode(p)
		return true
	}
	for range a.out {
		a.turn = (a.turn + 1) % len(a.out)
		if f := a.out[a.turn]; f != nil && a.sendData(now, f, p) {
			return true
		}
	}
	return false
}

// Wake implements transport.Transport.
func (a *AIMD) Wake() Time {
	if a.acks.Len() > 0 {
		return 0
	}
	at := units.Never
	for _, f := range a.out {
		if f != nil {
			at = min(at, f.wakeAt(a.params.Timeout))
		}
	}
	return at
}
