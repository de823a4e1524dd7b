// Package host is a host of the fabric, the part that every engine shares: an
// application that sends and answers messages, a transport, and a network
// interface that takes packets at its rate. It knows neither sockets nor clocks:
// package node runs it in a process of its own, the model in its own time.
package host

import (
	"fmt"
	"math/rand/v2"

	"sirdbed/sirdnode/record"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/timer"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Config describes a host.
type Config struct {
	Self     topo.HostID
	Fabric   *topo.Fabric
	Protocol transport.Protocol
	Params   any // of the protocol; nil for its defaults
	Streams  []traffic.Stream
	Seed     uint64

	From, To   units.Time // the measured window; new messages arrive until To
	GaugeEvery units.Time // sampling interval of gauges, 0: never

	// Incarnation is that of the host's first life; 0 for 1 of a mortal host, and none of
	// others.
	Incarnation transport.Incarnation

	// Source is what the application sends in place of Streams, if it is not nil.
	Source Source
	// Number is by what a message's payload tells hosts apart, the same at all of them. nil:
	// their IDs.
	Number func(topo.HostID) topo.HostID
	// Watch, if it is not nil, is told of what the log is not read for.
	Watch Watcher
	// Mortal is set for a host that Kill may be called of.
	Mortal bool
}

// A Watcher is told of a host's messages as they come and go.
type Watcher interface {
	// Data tells of n payload bytes that have arrived, and whether they are what was sent.
	Data(m transport.Message, n int, intact bool)
	// Delivered tells that all of a message has arrived.
	Delivered(m transport.Message)
	// Failed tells that the transport has given up a message from here, and why.
	Failed(now units.Time, m transport.Message, reason string)
}

// A Host is one host of the fabric. It is driven like a transport.Transport:
// Advance and Sample, or Receive, then Next until it returns false, then wait until
// Wake.
// It is for one goroutine, and now may never decrease.
type Host struct {
	*Application
	proto transport.Transport
	nic   timer.Pacer
	idle  bool // the transport had nothing when the NIC was last free

	params      any
	incarnation transport.Incarnation // cfg.Incarnation at first
	restarts    int
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

// New makes a host that logs to log. It fails on parameters or streams that
// cannot work.
func New(cfg Config, log *record.Writer) (*Host, error) {
	if cfg.Protocol.New == nil {
		return nil, fmt.Errorf("%s runs in the hosts' kernel: it has no packets of its own to send", cfg.Protocol.Name)
	}
	a, err := NewApplication(cfg, log)
	if err != nil {
		return nil, err
	}
	h := &Host{Application: a, nic: timer.Pacer{Rate: cfg.Fabric.Uplink(cfg.Self).Rate}, idle: true}
	h.incarnation = cfg.Incarnation
	if h.incarnation == 0 && cfg.Mortal {
		h.incarnation = 1
	}
	if h.params = cfg.Params; h.params == nil {
		h.params = cfg.Protocol.DefaultParams(cfg.Fabric)
	}
	return h, h.makeTransport()
}

// makeTransport makes the transport of the host's present life.
func (h *Host) makeTransport() (err error) {
	cfg := &h.cfg
	h.proto, err = cfg.Protocol.New(transport.Env{
		Self: cfg.Self, Fabric: cfg.Fabric, Sink: h, Incarnation: h.incarnation,
		Rand: rand.New(rand.NewPCG(cfg.Seed, uint64(h.restarts)<<32+uint64(cfg.Self)+1)),
	}, h.params)
	if err != nil {
		return fmt.Errorf("%s at %s: %w", cfg.Protocol.Name, cfg.Fabric.HostName(cfg.Self), err)
	}
	h.SendOver(h.proto)
	return nil
}

// Receive takes an intact packet that has arrived.
func (h *Host) Receive(now units.Time, p *transport.Packet) {
	h.counts.Received++
	h.counts.ReceivedBytes += int64(p.WireLen())
	h.proto.Receive(now, p)
	h.Flush(now)
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

// PauseNIC has the NIC take no packet before until.
func (h *Host) PauseNIC(until units.Time) { h.nic.Pause(until) }

// SetRate has the NIC pace packets at another rate from now on: its link's.
func (h *Host) SetRate(rate units.BitsPerSecond) { h.nic.Rate = rate }

// Wake returns when to call Advance, Sample and Next again if nothing arrives before.
func (h *Host) Wake() units.Time { return min(h.NextWork(), h.gaugeAt) }

// NextWork returns when the next message, packet or timer of the transport is due.
// The rest of Wake is gauges, which change nothing when they are read late.
func (h *Host) NextWork() units.Time {
	at := h.source.NextAt()
	if w := h.proto.Wake(); w != units.Never {
		at = min(at, max(w, h.nic.At()))
	}
	return at
}

// Settled reports that the host is done and its transport waits for nothing,
// not even for credit to come back: unless something arrives, nothing changes.
func (h *Host) Settled() bool { return h.Done() && h.proto.Wake() == units.Never }
