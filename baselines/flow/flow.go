// Package flow is what connection-oriented protocols share, in parts that can be
// used on their own (README.md has the facts behind it):
//
//	Pool       connections to a peer, and the messages that wait for one
//	Inbox      reassembly, and delivery exactly once
//	Segments   what of a message was sent, has arrived, and is lost
//	RTT        round-trip estimate and retransmission timeout
//
// Transport combines them into a windowed protocol with selective and, on request,
// delayed acknowledgements, ECN echo, timestamps, retransmission and pacing. It
// lacks only a congestion control law: a Controller for each connection.
//
// A connection's packets have a fixed entropy, so that ECMP sends all of them over
// one path, and those of another connection perhaps over another. A host's
// connections share its NIC in turn, packet by packet; acknowledgements precede
// data. There is one priority.
package flow

import (
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/sirdnode/transport/timer"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

type (
	// Time is in nominal ns.
	Time = transport.Time
	// Bytes counts payload.
	Bytes = transport.Bytes
)

// Transport is a windowed protocol at one host. It implements
// transport.Transport.
type Transport struct {
	env    transport.Env
	config Config
	mss    Bytes
	frame  Bytes // IP bytes of a full packet
	queued Bytes // at the uplink, 0 unless config.UplinkMark is set

	peers  []*outPeer              // by HostID, nil before the first message to them
	ready  queue.FIFO[*connection] // those that may have something to send, in turn
	order  queue.Heap[connection]  // the same with config.UplinkFIFO, by since when they may
	timers queue.Heap[connection]

	inbox   *Inbox
	ackers  [][]*acker // by HostID and connection
	delayed queue.Heap[acker]
	acks    queue.FIFO[queuedAck]
	sleep   timer.Sleep
}

// Framing returns how messages are cut into packets at an MTU.
func Framing(mtu Bytes) topo.Framing { return framing(mtu) }

var framing = layout.Framing(dataLen)

// New makes the protocol at one host. It fails, naming the field, on a
// configuration that cannot work.
func New(env transport.Env, c Config) (*Transport, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	fr := Framing(env.Fabric.Spec.MTU)
	hosts := len(env.Fabric.Hosts)
	t := &Transport{
		env: env, config: c, mss: fr.MSS, frame: fr.MSS + fr.Overhead,
		peers: make([]*outPeer, hosts), ackers: make([][]*acker, hosts), inbox: NewInbox(env),
		timers:  queue.NewHeap(func(c *connection) *queue.Slot { return &c.slot }),
		order:   queue.NewHeap(func(c *connection) *queue.Slot { return &c.place }),
		delayed: queue.NewHeap(func(a *acker) *queue.Slot { return &a.slot }),
	}
	t.addGauges()
	return t, nil
}

// Receive implements transport.Transport. Malformed packets are ignored.
func (t *Transport) Receive(now Time, p *transport.Packet) {
	var h header
	if h.decode(p.Header()) != nil || !t.env.Knows(p.Peer) {
		return
	}
	t.sleep.End()
	switch h.kind {
	case data:
		t.receiveData(now, &h, p)
	case ack:
		t.receiveAck(now, &h, p)
	}
}

// Next implements transport.Transport: acknowledgements first, then data.
func (t *Transport) Next(now Time, p *transport.Packet) bool {
	t.checkTimers(now)
	t.acknowledgeDue(now)
	p.ECT = true
	if n, ok := t.acks.Pop(); ok {
		n.fillAck(now, p)
		return true
	}
	if t.nextData(now, p) {
		return true
	}
	t.sleep.Until(units.Never)
	return false
}

// Wake implements transport.Transport.
func (t *Transport) Wake() Time { return min(t.sleep.WakeAt(), t.nextTimer()) }

// nextTimer returns when the next timer is due, or the next delayed
// acknowledgement.
func (t *Transport) nextTimer() Time {
	at := t.nextDelayed()
	if c := t.timers.Top(); c != nil {
		at = min(at, c.timerAt)
	}
	return at
}

// Controllers calls do with the Controller of each connection to a peer, of those
// used so far, and whether it carries a message.
func (t *Transport) Controllers(peer transport.HostID, do func(c Controller, busy bool)) {
	if o := t.peers[peer]; o != nil {
		for _, c := range o.connections {
			do(c.control, c.busy)
		}
	}
}

// addGauges registers sums over all of a host's connections.
func (t *Transport) addGauges() {
	sum := func(of func(c *connection) float64) func() float64 {
		return func() (total float64) {
			for _, o := range t.peers {
				if o == nil {
					continue
				}
				for _, c := range o.connections {
					if c.busy {
						total += of(c)
					}
				}
			}
			return total
		}
	}
	mss := float64(t.mss)
	t.env.Sink.Gauge("window", sum(func(c *connection) float64 { return c.control.Window() * mss }))
	t.env.Sink.Gauge("in_flight", sum(func(c *connection) float64 { return float64(c.segments.InFlight()) * mss }))
	t.env.Sink.Gauge("connections_busy", sum(func(*connection) float64 { return 1 }))
	t.env.Sink.Gauge("messages_waiting", func() (total float64) {
		for _, o := range t.peers {
			if o != nil {
				total += float64(o.pool.Waiting())
			}
		}
		return total
	})
}

// Idle returns an error if anything is left to do: a message being sent or
// reassembled, or a packet waiting to be sent. Tests and engines check it.
func (t *Transport) Idle() error {
	for _, o := range t.peers {
		if o != nil && (o.pool.Open() != 0 || o.pool.Busy() != 0 || o.pool.Waiting() != 0) {
			return fmt.Errorf("to %s: %d messages open, %d connections busy, %d messages waiting",
				t.env.Fabric.HostName(o.id), o.pool.Open(), o.pool.Busy(), o.pool.Waiting())
		}
	}
	if n := t.inbox.Open(); n != 0 {
		return fmt.Errorf("%d messages on their way in", n)
	}
	if t.queued != 0 {
		return fmt.Errorf("%d bytes counted at the uplink", t.queued)
	}
	if t.timers.Len() != 0 || t.delayed.Len() != 0 || t.acks.Len() != 0 {
		return fmt.Errorf("%d timers, %d delayed acknowledgements, %d to be sent",
			t.timers.Len(), t.delayed.Len(), t.acks.Len())
	}
	return nil
}

var _ transport.Transport = (*Transport)(nil)
