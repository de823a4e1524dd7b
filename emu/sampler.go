package emu

import (
	"fmt"
	"os"

	"sirdbed/emu/port"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A sampler reads the queues of all switch ports at intervals of nominal time,
// on a thread of its own.
type sampler struct {
	fabric *Fabric
	clock  *clock.Clock
	every  units.Time
	end    units.Time
	ids    []topo.PortID // of switches
	log    *record.Writer
	file   *os.File

	quit     chan struct{}
	ended    chan error
	lateness clock.Lateness
}

// leastInterval is the shortest time between two samples, by the kernel's clock.
// A sample takes a netlink dump for each switch.
const leastInterval = 200_000

func (r *realRun) startSampler() (*sampler, error) {
	if r.x.QueueEvery <= 0 {
		return nil, nil
	}
	file, err := os.Create(r.dir.QueueLog())
	if err != nil {
		return nil, err
	}
	s := &sampler{
		fabric: r.fabric, clock: r.clock, end: r.x.End(), file: file, log: record.NewWriter(file),
		every: max(r.x.QueueEvery, units.Time(leastInterval/r.facts.Dilation)),
		quit:  make(chan struct{}), ended: make(chan error, 1),
	}
	for _, p := range r.topology.Ports {
		if r.topology.Nodes[p.Node].Kind != topo.Host {
			s.ids = append(s.ids, p.ID)
		}
	}
	go func() { s.ended <- s.run() }()
	return s, nil
}

func (s *sampler) run() error {
	if err := clock.LockThread(); err != nil {
		return err
	}
	stats := make([]port.Stats, len(s.fabric.Topology().Ports))
	before := make([]int64, len(stats))
	for at := units.Time(0); at < s.end; at += s.every {
		if err := s.clock.WaitUntil(at); err != nil {
			return err
		}
		select {
		case <-s.quit:
			return nil
		default:
		}
		now := s.clock.Now()
		s.lateness.Add(int64(now - at))
		if err := s.fabric.Sample(stats); err != nil {
			return fmt.Errorf("sampling queues: %w", err)
		}
		for _, id := range s.ids {
			bytes, packets := stats[id].Backlog()
			if bytes == before[id] {
				continue
			}
			before[id] = bytes
			s.log.Put(record.Record{
				Kind: record.Queue, At: s.clock.ToNominal(stats[id].At), Peer: uint16(id), ID: uint32(packets), N: bytes,
			})
		}
		if err := s.log.Put(record.Record{Kind: record.Tick, At: now}); err != nil {
			return fmt.Errorf("writing queue samples: %w", err)
		}
		// Sampling that fell behind is not made up for.
		at += s.every * ((s.clock.Now() - at) / s.every)
	}
	return nil
}

// stop ends the sampling and tells how late it was. A nil sampler was off.
func (s *sampler) stop(late *Lateness) error {
	if s == nil {
		return nil
	}
	close(s.quit)
	err := <-s.ended
	*late = latenessOf(&s.lateness)
	s.log.Put(record.Record{Kind: record.End, At: s.clock.Now()})
	if e := s.log.Flush(); err == nil {
		err = e
	}
	if e := s.file.Close(); err == nil {
		err = e
	}
	return err
}
