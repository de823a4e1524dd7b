package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// carry makes the logs of a run on a network that carries messages in the order in
// which they arrived, each as fast as the two hosts' links have room, which have a
// share of their rates.
func carry(t *testing.T, r *fakerun.Run, share float64) {
	t.Helper()
	const step = 10 * us
	type message struct {
		src      topo.HostID
		a        traffic.Arrival
		id       int
		left     float64
		finished bool
	}
	framing, _ := fakerun.Framing("", 1500)
	end := r.X.Warmup + r.X.Duration
	var list []*message
	for _, src := range r.F.Hosts {
		s, err := traffic.NewSource(r.F, r.X.Streams, r.X.Seed, src, end)
		if err != nil {
			t.Fatal(err)
		}
		for id := 0; ; id++ {
			a, ok := s.Pop()
			if !ok {
				break
			}
			list = append(list, &message{src: src, a: a, id: id, left: float64(framing.WireOf(a.Size))})
		}
	}
	slices.SortStableFunc(list, func(a, b *message) int { return cmp.Compare(a.a.At, b.a.At) })
	points := make([][]fakerun.Point, len(r.F.Hosts))
	payload := make([]float64, len(r.F.Hosts))
	next := 0
	var active []*message
	for at := units.Time(0); at <= end; at += step {
		for h := range points {
			points[h] = append(points[h], fakerun.At(at, payload[h]))
		}
		up, down := make([]float64, len(points)), make([]float64, len(points))
		for h := range up {
			up[h] = share * float64(r.F.Uplink(topo.HostID(h)).Rate) / 8e9 * float64(step)
			down[h] = up[h]
		}
		for ; next < len(list) && list[next].a.At < at+step; next++ {
			active = append(active, list[next])
		}
		kept := active[:0]
		for _, m := range active {
			x := min(m.left, up[m.src], down[m.a.Dst])
			up[m.src] -= x
			down[m.a.Dst] -= x
			m.left -= x
			payload[m.a.Dst] += x / float64(framing.WireOf(m.a.Size)) * float64(m.a.Size)
			if m.left > 0 {
				kept = append(kept, m)
				continue
			}
			m.finished = true
			r.Message(m.src, m.a.Dst, m.id, m.a.Tag, m.a.Size, m.a.At, at+step+5*us)
		}
		active = kept
	}
	for _, m := range list {
		if !m.finished {
			r.Message(m.src, m.a.Dst, m.id, m.a.Tag, m.a.Size, m.a.At, 0)
		}
	}
	for h := range points {
		r.Gauge(topo.HostID(h), 0, PayloadGauge, points[h]...)
	}
}

// In windows of 2 and 3 ms of heavy-tailed traffic, a network that carries what is
// offered with some room is stable, and one that does not is unstable: because more
// is offered than links carry, or because the network wastes what they could.
func TestStabilityOfHeavyTails(t *testing.T) {
	for workload, seeds := range map[string]int{"wka": 1, "wkb": 6, "wkc": 6} {
		t.Run(workload, func(t *testing.T) {
			var wrong, of [2]int
			for seed := range seeds {
				for _, c := range []struct {
					load, share float64
					unstable    bool
				}{
					{0.3, 1, false}, {0.5, 1, false}, {0.8, 1, false}, {0.5, 0.7, false},
					{1.15, 1, true}, {1.25, 1, true}, {0.8, 0.6, true}, {0.5, 0.35, true},
				} {
					stream := traffic.Stream{Name: "all", Pattern: traffic.PatternPoisson, Sizes: workload,
						Load: c.load, Overload: true}
					r := fakerun.New(t, stream)
					r.X.Seed, r.X.GaugeEvery = uint64(seed), 10*us
					r.X.Warmup, r.X.Duration = ms/2, units.Time(2+seed%2)*ms
					carry(t, r, c.share)
					s := analyze(t, r).Stability
					class := 0
					if c.unstable {
						class = 1
					}
					of[class]++
					if s.Unstable != c.unstable {
						wrong[class]++
						t.Logf("seed %d, load %.1f over %.1f: unstable %v; %+v", seed, c.load, c.share, s.Unstable, s)
					}
				}
			}
			if 100*wrong[0] > 2*of[0] || 100*wrong[1] > 5*of[1] {
				t.Errorf("%d of %d false alarms, want at most 2 %%; %d of %d misses, want at most 5 %%",
					wrong[0], of[0], wrong[1], of[1])
			}
		})
	}
}

var poisson = traffic.Stream{Name: "all", Pattern: traffic.PatternPoisson, Size: 10000, Load: 0.8}

// What an unstable run carries is known from its backlog.
func TestCarriedShare(t *testing.T) {
	stream := poisson
	stream.Size = 100_000
	for _, share := range []float64{0.3, 0.7} {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			r := fakerun.New(t, stream)
			r.X.GaugeEvery, r.X.Warmup, r.X.Duration = 10*us, ms, 2*ms
			carry(t, r, share)
			s := analyze(t, r).Stability
			framing, _ := fakerun.Framing("", 1500)
			payload := share * 100_000 / float64(framing.WireOf(100_000))
			if !s.Unstable || s.Carried < 0.95*payload || s.Carried > 1.05*payload {
				t.Errorf("got %+v, want %.2f carried", s, payload)
			}
			if len(s.Reasons) != 1 || !strings.Contains(s.Reasons[0], "80 % are offered") {
				t.Errorf("got %q", s.Reasons)
			}
		})
	}
}

// The offered share is that of the busiest link, whatever the streams.
func TestOfferedShare(t *testing.T) {
	slow := 40 * units.Gbps
	for _, c := range []struct {
		name    string
		links   []topo.LinkOverride
		streams []traffic.Stream
		want    float64
	}{
		{"all to all", nil, []traffic.Stream{poisson}, 0.8},
		{"two to one", nil, []traffic.Stream{{Name: "a", Pattern: traffic.PatternPoisson, Size: 1000,
			Load: 0.6, From: []string{"h1-1", "h1-2"}, To: []string{"h2-1"}}}, 1.2},
		{"replies", nil, []traffic.Stream{{Name: "a", Pattern: traffic.PatternPoisson, Size: 1000, Reply: 1000,
			Load: 0.4, From: []string{"h1-1", "h1-2"}, To: []string{"h2-1", "h2-2"}},
			{Name: "b", Pattern: traffic.PatternPoisson, Size: 1000, Load: 0.3, From: []string{"h1-1"},
				To: []string{"h1-2"}}}, 0.7},
		{"a slow core", []topo.LinkOverride{{Between: [2]string{"leaf1", "spine1"}, Rate: &slow}},
			[]traffic.Stream{{Name: "a", Pattern: traffic.PatternPoisson, Size: 1000, Load: 0.3,
				From: []string{"h1-1", "h1-2"}, To: []string{"h2-1", "h2-2"}}}, 1.5},
		{"a slow host", []topo.LinkOverride{{Between: [2]string{"leaf1", "h1-1"}, Rate: &slow}},
			[]traffic.Stream{{Name: "a", Pattern: traffic.PatternPoisson, Size: 1000, Load: 0.3,
				From: []string{"h1-1", "h1-2"}, To: []string{"h2-1", "h2-2"}}}, 0.3},
		{"an outcast beside it", nil, []traffic.Stream{poisson, {Name: "o", Pattern: traffic.PatternOutcast, Size: 1000,
			From: []string{"h1-1"}, To: []string{"h2-1"}}}, 0.8},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := fakerun.New(t).X.Topology
			spec.Links = c.links
			f, err := topo.New(spec)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := offeredShare(f, c.streams)
			if err != nil || got < c.want-1e-6 || got > c.want+1e-6 {
				t.Errorf("got %v (%v), want %v", got, err, c.want)
			}
		})
	}
}

// Without samples of what was received until the end nothing is said.
func TestStabilityIsNotKnownWithoutGauges(t *testing.T) {
	r := fakerun.New(t, poisson)
	for i := range 9000 {
		r.Message(0, 1, i, fakerun.Tag(t, 0, i), 10000, units.Time(i)*us, 0)
	}
	if s := analyze(t, r).Stability; !s.Applies || s.Known || s.Unstable || !strings.Contains(s.Why, "gauges") {
		t.Errorf("got %+v, want a rule that applies and an answer that is not known", s)
	}
}

// Streams that do not offer the same known load all over the window are not judged.
func TestStabilityNeedsSteadyStreams(t *testing.T) {
	late, early := poisson, poisson
	late.Start, early.Stop = 2*ms, 2*ms
	late.Name, early.Name = "late", "early"
	list := traffic.Stream{Name: "rows", Pattern: traffic.PatternList}
	out := traffic.Stream{Name: "out", Pattern: traffic.PatternOutcast, Size: 1000}
	inWarmup := poisson
	inWarmup.Start = ms / 2
	for _, c := range []struct {
		stream traffic.Stream
		begin  units.Time
		why    string
	}{
		{inWarmup, ms / 2, ""}, {poisson, 0, ""},
		{late, 0, "stream late does not last all the window"}, {early, 0, "stream early does not last all the window"},
		{list, 0, "stream rows (list) has no load of its own"}, {out, 0, "stream out (outcast) has no load of its own"},
	} {
		begin, err := steadySince([]traffic.Stream{poisson, c.stream}, ms, 3*ms)
		if (err == nil) != (c.why == "") || err != nil && err.Error() != c.why || begin != c.begin {
			t.Errorf("%s: got %v and %v, want %v and %q", c.stream.Name, begin, err, c.begin, c.why)
		}
	}
}

// What no protocol can carry is unstable, whatever is left; where one link's backlog
// may hide another's, or links of one kind differ, nothing is said.
func TestStabilityOfUnevenLoads(t *testing.T) {
	slow := 40 * units.Gbps
	core := []topo.LinkOverride{{Between: [2]string{"leaf1", "spine1"}, Rate: &slow}}
	some := poisson
	some.Name, some.Load, some.From, some.To = "some", 0.1, []string{"h1-1"}, []string{"h2-1"}
	half, over := poisson, poisson
	half.Load, over.Load, over.Overload = 0.3, 1.01, true
	one := half
	one.To = []string{"h2-1"}
	for _, c := range []struct {
		name     string
		links    []topo.LinkOverride
		streams  []traffic.Stream
		known    bool
		unstable bool
		why      string
	}{
		{"even", nil, []traffic.Stream{half}, true, false, ""},
		{"more than links carry", nil, []traffic.Stream{over}, true, true, ""},
		{"more than a slow link carries", core, []traffic.Stream{half}, true, true, ""},
		{"a slow link", core, []traffic.Stream{some}, false, false, "differ in their rates"},
		{"some hosts have more", nil, []traffic.Stream{half, some}, false, false, "not offered the same"},
		{"all to one", nil, []traffic.Stream{one}, true, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := fakerun.New(t, c.streams...)
			r.X.GaugeEvery, r.X.Topology.Links = 100*us, c.links
			carry(t, r, 1)
			s := analyze(t, r).Stability
			if s.Known != c.known || s.Unstable != c.unstable || !strings.Contains(s.Why, c.why) {
				t.Errorf("got %+v, want known %v, unstable %v, %q", s, c.known, c.unstable, c.why)
			}
		})
	}
}

// Whatever the delays of links, what is on its way is in the reference too; and where
// the run is a few credit loops, nothing is said of a load near to what is carried.
func TestStabilityOverLongLinks(t *testing.T) {
	for _, c := range []struct {
		delay, window units.Time
		share         float64
		known         bool
		unstable      bool
	}{
		{50 * us, 40 * ms, 1, true, false}, {50 * us, 40 * ms, 0.5, true, true},
		{50 * us, ms, 1, true, false}, {50 * us, ms, 0.75, false, false},
	} {
		stream := poisson
		stream.Size = 100_000
		r := fakerun.New(t, stream)
		r.X.GaugeEvery, r.X.Warmup, r.X.Duration = 100*us, ms, c.window
		r.X.Topology.HostDelay, r.Facts.Reached = c.delay, ms+c.window
		carry(t, r, c.share)
		s := analyze(t, r).Stability
		if s.Known != c.known || s.Unstable != c.unstable {
			t.Errorf("%v over links of %v, %.2f carried: got %+v, want known %v, unstable %v", c.window, c.delay,
				c.share, s, c.known, c.unstable)
		}
	}
}

func TestRuleIsForPoissonOnly(t *testing.T) {
	r := fakerun.New(t, traffic.Stream{Name: "all", Pattern: traffic.PatternFixed, Size: 10000, Load: 0.8})
	r.X.GaugeEvery = 10 * us
	carry(t, r, 0.1)
	if s := analyze(t, r).Stability; s.Applies || s.Unstable {
		t.Errorf("got %+v, want a rule that does not apply", s)
	}
}
