// Package model is the fabric as an event-driven model: the same hosts,
// protocols, traffic and measurements as on Linux, over switches that exist only
// as arithmetic. It needs no kernel and no privileges, and a run is determined
// by its configuration to the last bit.
//
// Sim is the model itself, which protocol tests use directly; Engine runs
// experiments on it.
//
// # Time
//
// The network counts in picoseconds, since a minimal packet lasts 1.68 ns at
// 400 Gbps: a link's packets follow one another without the least gap or
// overlap. Hosts live in nanoseconds. An arrival reaches its host at the
// nearest nanosecond, so that round trips come out right on average and to the
// digit; what the host sends in return starts at the exact arrival, since its
// NIC is the model's port. When a host waits for its NIC it is called at the
// picosecond at which the port is free, as of the nanosecond that it asked for.
// Its clock can so be ahead of the network's by less than 2 ns; it never runs
// backwards, and never passes the arrival of a message from the application.
package model

import (
	"errors"
	"fmt"
	"io"
	"math"

	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Config describes a simulation. Fabric and Protocol are mandatory, the rest
// may be zero.
type Config struct {
	Fabric   *topo.Fabric
	Protocol transport.Protocol

	// Params are the protocol's parameters at all hosts, nil for its defaults.
	// HostParams, when set, gives those of each host instead; the ports are set
	// up by Params.
	Params     any
	HostParams func(topo.HostID) any
	// Network overrides what the protocol asks of the ports.
	Network *transport.Network
	// QueueLimit is what each port has room for of each priority, 0: all.
	QueueLimit units.Bytes

	// What hosts send, besides what Offer gives them.
	Streams []traffic.Stream
	Sends   []Send
	Seed    uint64
	// From and To are the measured window of the hosts' counts. Streams end at
	// To, 0: never.
	From, To units.Time

	// Bytes has real frames arrive at hosts: payload, checksums and all. Without
	// it only lengths travel, and Packet.Payload is nil. Faults that corrupt set it.
	Bytes    bool
	Faults   fault.Config   // in the hosts' receive path
	Timeline fault.Timeline // of links and hosts

	// OnPacket, when set, sees every event of every packet.
	OnPacket func(PacketEvent)
	// Lose, when set, is asked about every packet that is about to enter a port
	// (its Kind is Enqueued) and has it vanish by returning true.
	Lose func(PacketEvent) bool

	// GaugeEvery is the sampling interval of the hosts' gauges, 0: never.
	GaugeEvery units.Time
	// Log, when set, returns where a host's record log goes. It is kept in memory
	// otherwise, which is what Messages and Gauges read.
	Log func(topo.HostID) io.Writer
}

// A Send is a message that a host sends at a given time.
type Send struct {
	At       units.Time
	Src, Dst topo.HostID
	Size     units.Bytes
	Reply    units.Bytes // size of the answer, 0: none
}

// A Sim is a simulation. It belongs to one goroutine; many may run side by
// side.
type Sim struct {
	cfg    Config
	fabric *topo.Fabric

	now    int64 // ps
	agenda agenda
	pool   pool
	routes routes
	nodes  []node
	ports  []port
	hosts  []*endpoint
	frames framer

	undone   int  // hosts that are not done
	draining bool // hosts send nothing more
	offered  int  // by Offer

	changes []change      // by the timeline, the next first
	late    []lateArrival // packets that links have delayed or repeated, latest first

	sample   func(units.Time) // at sampleAt, then every sampleBy
	sampleAt int64
	sampleBy int64

	onPacket func(PacketEvent)
	lose     func(PacketEvent) bool
	tapErr   error
}

// A node is a host or a switch.
type node struct {
	waiting int64 // bytes in all its ports
	queue   gauge
}

// New sets up a simulation at time 0. It fails on parameters and streams that
// cannot work.
func New(cfg Config) (*Sim, error) {
	f := cfg.Fabric
	if f == nil || cfg.Protocol.New == nil {
		return nil, errors.New("model: a fabric and a protocol are needed")
	}
	if err := cfg.Faults.Validate(); err != nil {
		return nil, err
	}
	if cfg.Params == nil {
		cfg.Params = cfg.Protocol.DefaultParams(f)
	}
	if cfg.To == 0 {
		cfg.To = units.Never
	}
	if err := cfg.Timeline.Validate(f, units.Never); err != nil {
		return nil, fmt.Errorf("timeline%w", err)
	}
	if cfg.Faults.Corrupt > 0 || cfg.Timeline.Corrupts() {
		cfg.Bytes = true
	}
	var network transport.Network
	if cfg.Network != nil {
		network = *cfg.Network
	} else if cfg.Protocol.Network != nil {
		network = cfg.Protocol.Network(f, cfg.Params)
	}
	var err error
	if cfg.Streams, err = withSends(f, cfg.Streams, cfg.Sends); err != nil {
		return nil, err
	}
	s := &Sim{
		cfg: cfg, fabric: f, agenda: newAgenda(2*len(f.Ports) + 2*len(f.Hosts) + 2), routes: newRoutes(f, cfg),
		nodes: make([]node, len(f.Nodes)), ports: make([]port, len(f.Ports)), hosts: make([]*endpoint, len(f.Hosts)),
		frames: newFramer(f, cfg.Protocol), sampleAt: math.MaxInt64, onPacket: cfg.OnPacket, lose: cfg.Lose,
	}
	for i := range f.Ports {
		s.ports[i] = s.newPort(&f.Ports[i], network, cfg.QueueLimit)
	}
	for h := range f.Hosts {
		if s.hosts[h], err = s.newHost(topo.HostID(h)); err != nil {
			return nil, err
		}
	}
	s.plan()
	return s, nil
}

// withSends adds explicit messages to the streams, as one more.
func withSends(f *topo.Fabric, streams []traffic.Stream, sends []Send) ([]traffic.Stream, error) {
	if len(sends) == 0 {
		return streams, nil
	}
	list := traffic.Stream{Name: "sends", Pattern: traffic.PatternList}
	for i, m := range sends {
		for _, h := range []topo.HostID{m.Src, m.Dst} {
			if h < 0 || int(h) >= len(f.Hosts) {
				return nil, fmt.Errorf("send %d: host %d: the fabric has %d", i, h, len(f.Hosts))
			}
		}
		list.Messages = append(list.Messages, traffic.ListEntry{
			At: m.At, Src: f.HostName(m.Src), Dst: f.HostName(m.Dst), Size: m.Size, Reply: m.Reply,
		})
	}
	return append(streams[:len(streams):len(streams)], list), nil
}

// Now returns the time reached.
func (s *Sim) Now() units.Time { return units.Time(s.now / 1000) }

// Run goes on until nothing is left to happen up to and including until, which
// is then the time.
func (s *Sim) Run(until units.Time) {
	end := picoseconds(until)
	for !s.step(end, math.MaxInt, false) {
	}
	s.now = max(s.now, end)
}

// RunUntilDone goes on until all messages that hosts were given are acknowledged
// or have failed, and reports whether that was so by limit.
func (s *Sim) RunUntilDone(limit units.Time) bool {
	end := picoseconds(limit)
	for s.undone > 0 && !s.step(end, math.MaxInt, true) {
	}
	if s.undone > 0 {
		s.now = max(s.now, end)
	}
	return s.undone == 0
}

// Drain has the hosts send nothing more and runs until the network is empty: then
// every packet sent has been received or is counted as lost.
func (s *Sim) Drain() {
	s.beginDrain()
	for s.pool.live > 0 && !s.step(math.MaxInt64, math.MaxInt, false) {
	}
}

// step processes up to budget events that are due by end, and reports whether
// none is left. With untilDone it returns early when all hosts are done.
func (s *Sim) step(end int64, budget int, untilDone bool) bool {
	for ; budget > 0; budget-- {
		e, ok := s.agenda.first()
		if !ok || e.ps > end {
			if s.sampleAt <= end && !s.draining {
				s.takeSample()
				continue
			}
			return true
		}
		if e.ps >= s.sampleAt {
			s.takeSample() // as things are before what happens at that instant
			continue
		}
		s.now = e.ps
		s.agenda.reach(e.ps)
		id, ports := e.id(), len(s.ports)
		switch {
		case id < ports:
			p := &s.ports[id]
			s.arrive(p, p.arrive())
		case id < 2*ports:
			s.ports[id-ports].kick(e.ps)
		case id < 2*ports+len(s.hosts):
			s.hosts[id-2*ports].wake(e.ps)
		case id < 2*ports+2*len(s.hosts):
			s.hosts[id-2*ports-len(s.hosts)].release(e.ps)
		case id == s.changeID():
			s.change()
		default:
			s.arriveLate()
		}
		if untilDone && s.undone == 0 {
			return false
		}
	}
	return false
}

// arrive takes a packet that has crossed the link of a port.
func (s *Sim) arrive(p *port, q *packet) {
	if s.onPacket != nil {
		s.onPacket(s.event(Arrived, p, q))
	}
	if p.peer < len(s.hosts) {
		s.hosts[p.peer].arrive(q, s.now)
		return
	}
	if in := &s.ports[p.info.Reverse]; in.taps != nil {
		s.tap(in.taps, in, q, s.now, false)
	}
	s.ports[s.routes.next(p.peer, q)].enqueue(q, s.now)
}

// every has fn called at every multiple of interval, before what happens then.
func (s *Sim) every(interval units.Time, fn func(units.Time)) {
	s.sample, s.sampleBy, s.sampleAt = fn, picoseconds(interval), s.now
}

func (s *Sim) takeSample() {
	s.now = s.sampleAt
	s.sample(s.Now())
	s.sampleAt += s.sampleBy
}

// Values of times that are not set.
const (
	never int64 = -1
	unset int64 = -2
)

// picoseconds converts host time. What lies beyond the simulation's 106 days is
// never.
func picoseconds(t units.Time) int64 {
	if t > math.MaxInt64/1000 {
		return math.MaxInt64
	}
	return int64(t) * 1000
}

// nearest converts network time.
func nearest(ps int64) units.Time { return units.Time((ps + 500) / 1000) }
