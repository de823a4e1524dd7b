//go:build linux

package real

import (
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/fabric/port"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A sampler reads the queues of all switch ports at intervals of nominal time,
// on a thread of its own.
type sampler struct {
	fabric *fabric.Fabric
	clock  *clock.Clock
	every  units.Time
	end    units.Time
	ids    []topo.PortID // of switches
	log    *record.Writer
	file   *os.File

	quit     chan struct{}
	ended    chan error
	lateness clock.Lateness
	gaps     clock.Stalls
	watches  []*portWatch // by ids

	links sentLog

	swept   int64 // when the latest sample was complete, by the kernel's clock
	flushAt int64
}

// flushEvery is how much of the samples a crash can cost, by the kernel's clock.
const flushEvery = 200e6

// leastGap is how many sampling intervals without a sample are a gap, if they are a
// thousandth of the window too. Fewer may be what a sweep over all ports takes.
const leastGap = 4

func (r *run) startSampler() (*sampler, error) {
	if r.x.QueueEvery <= 0 {
		return nil, nil
	}
	every, err := r.queueInterval()
	if err != nil {
		return nil, err
	}
	r.facts.QueueEvery = every
	file, err := r.dir.Create(PartFile(r.engine.Platform.Part, emu.QueueLog))
	if err != nil {
		return nil, err
	}
	s := &sampler{
		fabric: r.fabric, clock: r.clock, end: r.x.End(), file: file, log: record.NewWriter(file),
		every: every,
		quit:  make(chan struct{}), ended: make(chan error, 1),
	}
	from, to := r.x.Window()
	s.links = sentLog{every: record.SentEvery(to), last: make([]int64, len(r.topology.Ports))}
	s.gaps = clock.Stalls{From: from, To: to, Least: max(leastGap*s.every, (to-from)/1000)}
	for i := range r.topology.Ports {
		if p := &r.topology.Ports[i]; r.topology.Nodes[p.Node].Kind != topo.Host && r.has(p.Node) {
			s.ids = append(s.ids, p.ID)
			s.watches = append(s.watches, newPortWatch(r.slowest(p), r.topology.FullFrame(), from, to))
		}
	}
	go func() { s.ended <- s.run() }()
	return s, nil
}

// threadName is what top -H calls the sampler.
var threadName = [...]byte{'s', 'a', 'm', 'p', 'l', 'e', 'r', 0}

func (s *sampler) run() error {
	if err := clock.LockThread(); err != nil {
		return err
	}
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&threadName[0])), 0, 0, 0)
	stats := make([]port.Stats, len(s.fabric.Topology().Ports))
	before := make([]int64, len(stats))
	latest := units.Time(0)
	defer func() { s.gaps.Add(latest, s.clock.Now()) }()
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
		s.gaps.Add(latest, now)
		latest = now
		if err := s.fabric.Sample(stats); err != nil {
			return fmt.Errorf("sampling queues: %w", err)
		}
		s.swept = clock.Monotonic()
		for i, id := range s.ids {
			at := s.clock.ToNominal(stats[id].At)
			s.watches[i].look(at, &stats[id])
			bytes, packets := stats[id].Backlog()
			if bytes == before[id] {
				continue
			}
			before[id] = bytes
			s.log.Put(record.Record{
				Kind: record.Queue, At: at, Tag: uint32(max(0, s.readUntil(stats, id)-at)),
				Peer: uint16(id), ID: uint32(packets), N: bytes,
			})
		}
		err := s.log.Put(record.Record{Kind: record.Tick, At: now, N: int64(s.clock.ToNominal(s.swept))})
		s.links.take(s, stats)
		if err == nil && s.swept >= s.flushAt {
			s.flushAt = s.swept + flushEvery
			err = s.log.Flush()
		}
		if err != nil {
			return fmt.Errorf("writing queue samples: %w", err)
		}
		// Sampling that fell behind is not made up for.
		at += s.every * ((s.clock.Now() - at) / s.every)
	}
	return nil
}

// readUntil is when at the latest a port was read: when the reading of the next
// switch began, since each takes one dump.
func (s *sampler) readUntil(stats []port.Stats, id topo.PortID) units.Time {
	topology := s.fabric.Topology()
	for next := topology.Ports[id].Node + 1; int(next) < len(topology.Nodes); next++ {
		if s.fabric.Has(next) {
			return s.clock.ToNominal(stats[topology.Nodes[next].Ports[0]].At)
		}
	}
	return s.clock.ToNominal(s.swept)
}

// stop ends the sampling and writes down how late it was. A nil sampler was off.
func (s *sampler) stop(facts *emu.Facts) error {
	if s == nil {
		return nil
	}
	close(s.quit)
	err := <-s.ended
	facts.SampleLateness = latenessOf(&s.lateness)
	facts.SampleStalls = &emu.Stalls{Total: s.gaps.Total, Longest: s.gaps.Longest}
	s.log.Put(record.Record{Kind: record.End, At: s.clock.Now()})
	if e := s.log.Flush(); err == nil {
		err = e
	}
	if e := s.file.Close(); err == nil {
		err = e
	}
	return err
}

// stallsOf returns those of a port, nil where it was not watched. The sampling must
// have ended.
func (s *sampler) stallsOf(id topo.PortID) *emu.Stalls {
	if s == nil {
		return nil
	}
	if i := slices.Index(s.ids, id); i >= 0 {
		return s.watches[i].stalls()
	}
	return nil
}
