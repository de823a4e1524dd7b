package capture

import (
	"iter"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

func replay(list []Frame, end error) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		for _, fr := range list {
			if !yield(fr, nil) {
				return
			}
		}
		if end != nil {
			yield(Frame{}, end)
		}
	}
}

// A leaf with first-in-first-out ports, simulated: packets from two hosts and
// the spine leave by two downlinks and the uplink at link rate. It remembers
// how deep each queue really was.
type leafSim struct {
	f      *topo.Fabric
	frames []Frame
	truth  map[topo.PortID][]Depth
	lost   map[topo.PortID]int
}

func simulateLeaf(f *topo.Fabric, n, limit int, rng *rand.Rand) *leafSim {
	s := &leafSim{f: f, truth: map[topo.PortID][]Depth{}, lost: map[topo.PortID]int{}}
	leaf, _ := f.Node("leaf1")
	type waiting struct {
		starts units.Time
		len    int
	}
	free := map[topo.PortID]units.Time{}
	queued := map[topo.PortID][]waiting{}
	var events []change2
	now := units.Time(1000)
	for i := range n {
		now += units.Time(rng.IntN(44))
		src := topo.HostID(rng.IntN(4))
		dst := topo.HostID((int(src) + 1 + rng.IntN(3)) % 4)
		if src > 1 && dst > 1 {
			dst = topo.HostID(rng.IntN(2))
		}
		in, _ := f.PortBetween(leaf.ID, 6) // spine1
		if src < 2 {
			in = f.Uplink(src).Reverse
		}
		out, _ := f.PortBetween(leaf.ID, 6)
		if dst < 2 {
			out = f.Downlink(dst).ID
		}
		data := frame(f, src, dst, uint16(i), 0, rng.IntN(1400))
		s.frames = append(s.frames, Frame{Port: &f.Ports[in], At: now, Len: len(data), Data: data})
		for len(queued[out]) > 0 && queued[out][0].starts <= now {
			queued[out] = queued[out][1:]
		}
		if len(queued[out]) >= limit {
			s.lost[out]++
			continue
		}
		start := max(now, free[out])
		free[out] = start + f.Ports[out].Rate.TimeFor(units.Bytes(len(data)+24))
		queued[out] = append(queued[out], waiting{start, len(data)})
		s.frames = append(s.frames, Frame{Port: &f.Ports[out], Out: true, At: start, Len: len(data), Data: data})
		events = append(events, change2{out, now, 1, len(data)}, change2{out, start, -1, -len(data)})
	}
	slices.SortStableFunc(s.frames, func(a, b Frame) int { return int(a.At - b.At) })
	slices.SortStableFunc(events, func(a, b change2) int { return int(a.at - b.at) })
	for _, e := range events {
		t := s.truth[e.port]
		d := Depth{}
		if len(t) > 0 {
			d = t[len(t)-1]
		}
		if len(t) == 0 || d.At != e.at {
			t = append(t, d)
		}
		t[len(t)-1] = Depth{e.at, d.Packets + e.packets, d.Bytes + int64(e.bytes)}
		s.truth[e.port] = t
	}
	return s
}

type change2 struct {
	port    topo.PortID
	at      units.Time
	packets int
	bytes   int
}

func TestReconstructionIsTheQueue(t *testing.T) {
	r := newRun(t)
	leaf, _ := r.f.Node("leaf1")
	for seed := range uint64(20) {
		s := simulateLeaf(r.f, 2000, 1000, rand.New(rand.NewPCG(seed, 1)))
		got, err := Reconstruct(r.f, leaf, replay(s.frames, nil))
		must(t, err)
		for _, q := range got.Ports {
			if !slices.Equal(q.Series, s.truth[q.Port.ID]) {
				t.Fatalf("seed %d: %s has %d depths, want %d", seed, q.Port.Name, len(q.Series), len(s.truth[q.Port.ID]))
			}
			if q.Local+q.Lost+q.Waiting+got.Unknown != 0 {
				t.Fatalf("seed %d: %s: %+v", seed, q.Port.Name, q)
			}
			if over := q.excess(); over > r.f.FullFrame() {
				t.Errorf("%s is %v ahead of its rate", q.Port.Name, over)
			}
		}
	}
}

func TestReconstructionFindsDrops(t *testing.T) {
	r := newRun(t)
	leaf, _ := r.f.Node("leaf1")
	s := simulateLeaf(r.f, 5000, 4, rand.New(rand.NewPCG(5, 5)))
	got, err := Reconstruct(r.f, leaf, replay(s.frames, nil))
	must(t, err)
	total := 0
	for _, q := range got.Ports {
		// The very last packets may have been lost or be waiting: who knows.
		if d := s.lost[q.Port.ID] - q.Lost; d < 0 || d > 2 {
			t.Errorf("%s lost %d, want %d", q.Port.Name, q.Lost, s.lost[q.Port.ID])
		}
		total += q.Lost
		most, _ := q.Between(0, units.Never/2)
		if most.Packets > 4+2 {
			t.Errorf("%s held %d packets, at most 4 fit", q.Port.Name, most.Packets)
		}
	}
	if total == 0 {
		t.Error("nothing was lost: the test tests nothing")
	}
}

func TestReconstructionOfParts(t *testing.T) {
	r := newRun(t)
	leaf, _ := r.f.Node("leaf1")
	s := simulateLeaf(r.f, 500, 1000, rand.New(rand.NewPCG(9, 9)))
	got, err := Reconstruct(r.f, leaf, replay(s.frames[200:], nil))
	must(t, err)
	local := 0
	for _, q := range got.Ports {
		local += q.Local
		for _, d := range q.Series {
			if d.Packets < 0 {
				t.Fatal("fewer than no packets wait")
			}
		}
	}
	if local == 0 {
		t.Error("packets from before the capture are not counted")
	}
	got, err = Reconstruct(r.f, leaf, replay(s.frames[:300], ErrCaptureCut))
	if err == nil || got.Frames != 300 {
		t.Errorf("a cut capture: %v, %d frames", err, got.Frames)
	}
	if _, err := Reconstruct(r.f, &r.f.Nodes[0], replay(s.frames, nil)); err == nil || !strings.Contains(err.Error(), "is a host") {
		t.Errorf("a host's queue: %v", err)
	}
	if _, err := Reconstruct(r.f, leaf, replay(nil, nil)); err == nil {
		t.Error("no packets is no error")
	}
}

func TestDepthBetween(t *testing.T) {
	q := &PortQueue{Series: []Depth{{100, 1, 1000}, {200, 2, 3000}, {300, 0, 0}}}
	most, mean := q.Between(0, 400)
	if most.Bytes != 3000 || most.Packets != 2 || math.Abs(mean-1000) > 1e-9 {
		t.Errorf("max %v, mean %v", most, mean)
	}
	if most, mean = q.Between(150, 200); most.Bytes != 1000 || mean != 1000 {
		t.Errorf("max %v, mean %v", most, mean)
	}
	if most, mean = q.Between(300, 900); most.Bytes != 0 || mean != 0 {
		t.Errorf("max %v, mean %v", most, mean)
	}
}

// Samples taken from the simulated queue agree with the one rebuilt from its
// capture; samples shifted by three packets do not.
func TestSamplesAgreeWithCapture(t *testing.T) {
	for _, c := range []struct {
		shift int64
		level Level
	}{{0, Pass}, {2, Pass}, {3, Degraded}} {
		r := newRun(t, oneWay)
		r.x.Warmup, r.x.Duration, r.x.Drain = 0, 100*us, 0
		r.facts.Reached = 100 * us
		for i := range r.facts.Ports {
			r.facts.Ports[i].WireBytes = 0
		}
		s := simulateLeaf(r.f, 2000, 1000, rand.New(rand.NewPCG(3, 3)))
		port := r.f.Downlink(1)
		truth := &PortQueue{Series: s.truth[port.ID]}
		for at := units.Time(0); at < 100*us; at += us {
			// A kernel is asked port by port, a while after the tick began.
			read := at + 300
			for _, p := range r.f.Ports {
				d, shift := (&PortQueue{Series: s.truth[p.ID]}).At(read), int64(0)
				if p.ID == port.ID {
					shift = c.shift
				}
				if p.Node == port.Node {
					r.queues = append(r.queues, record.Record{Kind: record.Queue, Peer: uint16(p.ID), At: read, ID: uint32(int64(d.Packets) + shift), N: d.Bytes})
				}
			}
			r.queues = append(r.queues, record.Record{Kind: record.Tick, At: at})
		}
		dir := r.write(t)
		leaf, _ := r.f.Node("leaf1")
		must(t, mkdir(filepath.Join(dir, "captures")))
		w, err := Create(filepath.Join(dir, "captures", "leaf1.pcapng"), r.f, leaf)
		must(t, err)
		for _, fr := range s.frames {
			must(t, w.Packet(fr.Port, fr.At, fr.Out, fr.Len, fr.Data))
		}
		must(t, w.Close())
		v, err := Analyze(dir, Options{Framing: testFraming, SampleTolerance: 1})
		must(t, err)
		if len(v.Agreements) != 3 || v.Verdict.Level != c.level {
			t.Errorf("shifted by %d: %+v, %s %v", c.shift, v.Agreements, v.Verdict.Level, v.Verdict.Reasons)
		}
		value, err := Metric{Name: "exact_queue_bytes", Host: "h1-2"}.Eval(v)
		if most, _ := truth.Between(0, 100*us); err != nil || int64(value) != most.Bytes || value == 0 {
			t.Errorf("the deepest was %v, want %v (%v)", value, most.Bytes, err)
		}
	}
}

// The statistics of sampled queues, tick by tick.
func TestQueueStatistics(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	r := newRun(t, oneWay)
	leaf, _ := r.f.Node("leaf1")
	now := make([]int64, len(r.f.Ports))
	from, to := r.x.Window()
	var sums, port []float64
	for at := units.Time(0); at < 10*ms; at += 10 * us {
		for p := range now {
			if rng.IntN(3) == 0 {
				now[p] = int64(rng.IntN(5)) * 1500
				r.queues = append(r.queues, record.Record{Kind: record.Queue, Peer: uint16(p), At: at + units.Time(rng.IntN(3000)), N: now[p]})
			}
		}
		r.queues = append(r.queues, record.Record{Kind: record.Tick, At: at})
		if at >= from && at < to {
			sum := 0.0
			for _, p := range leaf.Ports {
				sum += float64(now[p])
			}
			sums = append(sums, sum)
			port = append(port, float64(now[leaf.Ports[0]]))
		}
	}
	v := r.analyze(t)
	check := func(what string, got QueueStats, values []float64) {
		slices.Sort(values)
		mean := 0.0
		for _, x := range values {
			mean += x / float64(len(values))
		}
		p99 := values[int(math.Ceil(0.99*float64(len(values))))-1]
		if float64(got.Max) != values[len(values)-1] || math.Abs(got.Mean-mean) > 1e-6 || float64(got.P99) != p99 {
			t.Errorf("%s: %+v, want max %v mean %v p99 %v", what, got, values[len(values)-1], mean, p99)
		}
	}
	check("leaf1", v.Queue.Switches["leaf1"], sums)
	check("a port", v.Queue.Ports[r.f.Ports[leaf.Ports[0]].Name], port)
	if v.Queue.Samples != 800 {
		t.Errorf("%d samples", v.Queue.Samples)
	}
}
