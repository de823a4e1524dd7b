// Package sirdnode is a host of the fabric: an application that sends and
// answers messages, a transport, and a network interface that takes packets at
// its rate.
//
// Host is the part that every engine shares and that knows neither sockets nor
// clocks. Node runs one in a process of its own on a raw socket.
package sirdnode

import (
	"fmt"
	"math/rand/v2"

	"sirdbed/sirdnode/record"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// HostConfig is what a host is told.
type HostConfig struct {
	Self     topo.HostID
	Fabric   *topo.Fabric
	Protocol transport.Protocol
	Params   any // of the protocol; nil for its defaults
	Streams  []traffic.Stream
	Seed     uint64

	From, To   units.Time // the measured window; new messages arrive until To
	GaugeEvery units.Time // sampling interval of gauges, 0: never
}

// A Host is one host of the fabric. It is driven like a transport.Transport:
// Advance or Receive, then Next until it returns false, then wait until Wake.
// It is for one goroutine, and now may never decrease.
type Host struct {
	cfg    HostConfig
	proto  transport.Transport
	source *traffic.Source
	nic    transport.Pacer
	idle   bool // the transport had nothing when the NIC was last free
	log    *record.Writer

	nextID  []transport.MessageID // by peer
	outbox  []outgoing            // to be sent once the transport's method has returned
	gauges  []func() float64
	gaugeAt units.Time

	counts Counts
	named  map[*transport.Counter]int64
}

type outgoing struct {
	at units.Time
	m  transport.Message
}

// Counts are a host's totals.
type Counts struct {
	Sent, Received           int64 // packets
	SentBytes, ReceivedBytes int64 // wire bytes
	Payload                  int64 // payload bytes received for the first time
	WindowPayload            int64 // of these, within the measured window
	Mismatches               int64 // packets whose payload was not what was sent
	Offered, Delivered       int64 // messages sent from here, messages arrived here
	Acked, Failed            int64 // messages sent from here
}

// NewHost makes a host that logs to log. It fails on parameters or streams that
// cannot work.
func NewHost(cfg HostConfig, log *record.Writer) (*Host, error) {
	h := &Host{
		cfg:     cfg,
		nic:     transport.Pacer{Rate: cfg.Fabric.Uplink(cfg.Self).Rate},
		idle:    true,
		log:     log,
		nextID:  make([]transport.MessageID, len(cfg.Fabric.Hosts)),
		gaugeAt: units.Never,
		named:   map[*transport.Counter]int64{},
	}
	var err error
	if h.source, err = traffic.NewSource(cfg.Fabric, cfg.Streams, cfg.Seed, cfg.Self, cfg.To); err != nil {
		return nil, err
	}
	params := cfg.Params
	if params == nil {
		params = cfg.Protocol.DefaultParams(cfg.Fabric)
	}
	if cfg.GaugeEvery > 0 {
		h.gaugeAt = 0
	}
	h.Gauge("payload_received", func() float64 { return float64(h.counts.Payload) })
	h.proto, err = cfg.Protocol.New(transport.Env{
		Self: cfg.Self, Fabric: cfg.Fabric, Sink: h,
		Rand: rand.New(rand.NewPCG(cfg.Seed, uint64(cfg.Self)+1)),
	}, params)
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", cfg.Protocol.Name, cfg.Fabric.HostName(cfg.Self), err)
	}
	return h, nil
}

// Advance does what is due by now: messages arrive from the application, gauges
// are sampled.
func (h *Host) Advance(now units.Time) {
	for h.source.NextAt() <= now {
		a, ok := h.source.Pop()
		if !ok {
			h.log.Put(record.Record{Kind: record.Note, At: now, Text: fmt.Sprint("no more messages: ", h.source.Err())})
			break
		}
		h.offer(now, a.At, a.Dst, a.Size, a.Tag)
	}
	if h.gaugeAt <= now {
		for i, read := range h.gauges {
			h.log.PutGauge(now, i, read())
		}
		// Sampling that fell behind is not made up for.
		h.gaugeAt += h.cfg.GaugeEvery * (1 + (now-h.gaugeAt)/h.cfg.GaugeEvery)
	}
}

// offer hands a message to the transport. at is its nominal arrival at the
// application, which latency counts from.
func (h *Host) offer(now, at units.Time, dst topo.HostID, size units.Bytes, tag traffic.Tag) {
	m := transport.Message{ID: h.nextID[dst], Tag: transport.Tag(tag), Peer: dst, Size: size}
	h.nextID[dst]++
	h.counts.Offered++
	h.put(record.Offered, at, m, "")
	h.proto.Send(now, m)
	h.flushOutbox(now)
}

// flushOutbox sends what events of the transport asked for.
func (h *Host) flushOutbox(now units.Time) {
	for len(h.outbox) > 0 {
		batch := h.outbox
		h.outbox = nil
		for _, o := range batch {
			h.offer(now, o.at, o.m.Peer, o.m.Size, traffic.Tag(o.m.Tag))
		}
		if h.outbox == nil {
			h.outbox = batch[:0]
		}
	}
}

// Receive takes an intact packet that has arrived.
func (h *Host) Receive(now units.Time, p *transport.Packet) {
	h.counts.Received++
	h.counts.ReceivedBytes += int64(p.WireLen())
	h.proto.Receive(now, p)
	h.flushOutbox(now)
}

// Next fills in the packet that the NIC takes now and reports whether there is
// one.
func (h *Host) Next(now units.Time, p *transport.Packet) bool {
	if !h.nic.Ready(now) {
		return false
	}
	p.HeaderLen, p.PayloadLen, p.Payload, p.Offset, p.ID, p.Tag = 0, 0, nil, 0, 0, 0
	p.Peer, p.Priority, p.Entropy, p.Spine, p.ECT, p.Credit, p.CE, p.Arrived = 0, 0, 0, 0, false, false, false, 0
	if !h.proto.Next(now, p) {
		h.idle = true
		return false
	}
	wire := p.WireLen()
	h.counts.Sent++
	h.counts.SentBytes += int64(wire)
	if !p.Credit {
		slack := units.Nanosecond // undoes the rounding of now
		if h.idle {
			slack = 0
		}
		h.nic.Sent(now, wire, slack)
		h.idle = false
	}
	return true
}

// HoldNIC says that the NIC can take no packet before until.
func (h *Host) HoldNIC(until units.Time) { h.nic.Hold(until) }

// Wake returns when to call Advance and Next again if nothing arrives before.
func (h *Host) Wake() units.Time {
	at := min(h.source.NextAt(), h.gaugeAt)
	if w := h.proto.Wake(); w != units.Never {
		at = min(at, max(w, h.nic.At()))
	}
	return at
}

// Done reports that no message of this host is waiting to arrive or to be
// acknowledged.
func (h *Host) Done() bool {
	return h.source.NextAt() == units.Never && h.counts.Offered == h.counts.Acked+h.counts.Failed
}

// Settled reports that the host is done and its transport waits for nothing,
// not even for credit to come back: unless something arrives, nothing changes.
func (h *Host) Settled() bool { return h.Done() && h.proto.Wake() == units.Never }

// Counts returns the host's totals so far.
func (h *Host) Counts() Counts { return h.counts }

// Finish writes the gauges' last values and the host's totals, and ends its log.
func (h *Host) Finish(now units.Time) error {
	if h.cfg.GaugeEvery > 0 {
		for i, read := range h.gauges {
			h.log.PutGauge(now, i, read())
		}
	}
	c := h.counts
	for _, e := range []struct {
		name string
		n    int64
	}{
		{"packets_sent", c.Sent}, {"packets_received", c.Received},
		{"wire_bytes_sent", c.SentBytes}, {"wire_bytes_received", c.ReceivedBytes},
		{"payload_received", c.Payload}, {"window_payload_received", c.WindowPayload},
		{"payload_mismatches", c.Mismatches},
		{"messages_offered", c.Offered}, {"messages_delivered", c.Delivered},
		{"messages_acked", c.Acked}, {"messages_failed", c.Failed},
	} {
		h.log.Put(record.Record{Kind: record.Counter, At: now, N: e.n, Text: e.name})
	}
	for _, name := range sortedCounters(h.named) {
		h.log.Put(record.Record{Kind: record.Counter, At: now, N: h.named[name], Text: name.Name})
	}
	h.log.Put(record.Record{Kind: record.End, At: now})
	return h.log.Flush()
}
