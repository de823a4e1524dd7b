package results

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Every message is in one class, and what is measured is what the definition
// says, computed here message by message.
func TestStatisticsAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	incast := traffic.Stream{Name: "burst", Pattern: traffic.PatternIncast, Size: 500000}
	r := fakerun.New(t, fakerun.OneWay, incast)
	from, to := r.X.Window()
	var latencies, slow []float64
	groups := map[string][]float64{}
	counts := map[string]int{}
	ids := map[[2]topo.HostID]int{}
	for i := range 3000 {
		src := topo.HostID(rng.IntN(4))
		dst := topo.HostID((int(src) + 1 + rng.IntN(3)) % 4)
		stream := 0
		if rng.IntN(10) == 0 {
			stream = 1
		}
		size := units.Bytes(1 + rng.IntN(2_000_000))
		if rng.IntN(2) == 0 {
			size = units.Bytes(1 + rng.IntN(3000))
		}
		at := units.Time(rng.IntN(int(10 * ms)))
		done := at + r.F.UnloadedPaper(src, dst, size) + units.Time(rng.IntN(int(ms)))
		if rng.IntN(20) == 0 {
			done = 0
		}
		pair := [2]topo.HostID{src, dst}
		r.Message(src, dst, ids[pair], fakerun.Tag(t, stream, i), size, at, done)
		ids[pair]++
		switch {
		case at < from:
			counts["warmup"]++
		case at >= to:
		case done == 0:
			counts["lost"]++
		case stream == 0:
			latencies = append(latencies, float64(done-at))
			s := float64(done-at) / float64(r.F.UnloadedPaper(src, dst, size))
			slow = append(slow, s)
			g := "D"
			if size < 1460 {
				g = "A"
			} else if size < 100000 {
				g = "B"
			} else if size < 800000 {
				g = "C"
			}
			groups[g] = append(groups[g], s)
		}
	}
	v := analyze(t, r)
	if p := v.ProblemsOf(Integrity); len(p) > 0 {
		t.Fatalf("got the problems %v, want none", p)
	}
	rank := func(values []float64, q float64) float64 {
		slices.Sort(values)
		return values[int(math.Ceil(q*float64(len(values))))-1]
	}
	s, _ := v.Stream("rpc")
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"count", float64(s.LatencyNS.Count), float64(len(latencies))},
		{"p50", s.LatencyNS.P50, rank(latencies, 0.5)},
		{"p99", s.LatencyNS.P99, rank(latencies, 0.99)},
		{"slowdown p99", s.Slowdown[Paper][AllSizes].P99, rank(slow, 0.99)},
		{"A p50", v.Latencies.Slowdown[Paper]["A"].P50, rank(groups["A"], 0.5)},
		{"B p99", v.Latencies.Slowdown[Paper]["B"].P99, rank(groups["B"], 0.99)},
		{"C count", float64(v.Latencies.Slowdown[Paper]["C"].Count), float64(len(groups["C"]))},
		{"D p90", v.Latencies.Slowdown[Paper]["D"].P90, rank(groups["D"], 0.9)},
		{"without incast", float64(v.Latencies.Latency.Count), float64(len(latencies))},
	} {
		t.Run(c.what, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("= %v, want %v", c.got, c.want)
			}
		})
	}
	b, _ := v.Stream("burst")
	if b.Slowdown != nil || b.LatencyNS.Count == 0 {
		t.Errorf("incast: slowdown %v, %d latencies; want none, and some", b.Slowdown, b.LatencyNS.Count)
	}
	if s.Warmup+b.Warmup != counts["warmup"] {
		t.Errorf("%d in the warm-up, want %d", s.Warmup+b.Warmup, counts["warmup"])
	}
	if n := s.Unfinished + s.TooLate + b.Unfinished + b.TooLate; n != counts["lost"] {
		t.Errorf("%d did not finish, want %d", n, counts["lost"])
	}
	for definition, want := range map[string]float64{Paper: 1, Exact: 0.5} {
		if least := v.Latencies.Slowdown[definition][AllSizes].Min; least < want {
			t.Errorf("a slowdown of %v by the definition %s, want at least %v", least, definition, want)
		}
	}
}

func TestRequestLastsToItsReply(t *testing.T) {
	r := fakerun.New(t, traffic.Stream{Name: "rr", Pattern: traffic.PatternFixed, Size: 8, Reply: 100})
	r.Message(0, 3, 0, fakerun.Tag(t, 0, 0), 8, 2*ms, 2*ms+10*us)
	r.Message(3, 0, 0, fakerun.Tag(t, 0, 0).Reply(), 100, 2*ms+10*us, 2*ms+25*us)
	r.Message(0, 3, 1, fakerun.Tag(t, 0, 1), 8, 3*ms, 3*ms+10*us) // its reply never comes
	r.Message(1, 3, 0, fakerun.Tag(t, 0, 0), 8, 3*ms, 3*ms+10*us) // the same tag from another host
	r.Message(3, 1, 0, fakerun.Tag(t, 0, 0).Reply(), 100, 3*ms+10*us, 3*ms+40*us)
	v := analyze(t, r)
	s, _ := v.Stream("rr")
	if s.Measured != 2 || s.Unfinished != 1 || s.LatencyNS.Min != 25000 || s.LatencyNS.Max != 40000 {
		t.Errorf("got %+v, want 2 measured in 25 and 40 us, 1 unfinished", s)
	}
	m := v.Messages[0]
	if want := r.F.UnloadedPaper(0, 3, 8) + r.F.UnloadedPaper(3, 0, 100); m.UnloadedPaper != want {
		t.Errorf("unloaded %v, want %v", m.UnloadedPaper, want)
	}
}

// The paper's slowdown is of the request only (scenarios/README, Files).
func TestRequestAloneIsMeasuredWhereAsked(t *testing.T) {
	r := fakerun.New(t, traffic.Stream{Name: "rr", Pattern: traffic.PatternFixed, Size: 8, Reply: 100,
		Latency: traffic.LatencyRequest})
	r.Message(0, 3, 0, fakerun.Tag(t, 0, 0), 8, 2*ms, 2*ms+10*us)
	r.Message(3, 0, 0, fakerun.Tag(t, 0, 0).Reply(), 100, 2*ms+10*us, 2*ms+25*us)
	r.Message(0, 3, 1, fakerun.Tag(t, 0, 1), 8, 3*ms, 3*ms+20*us) // its reply never comes
	r.Message(1, 3, 0, fakerun.Tag(t, 0, 0), 8, 3*ms, 0)
	v := analyze(t, r)
	s, _ := v.Stream("rr")
	if s.Measured != 2 || s.Unfinished != 1 || s.LatencyNS.Min != 10000 || s.LatencyNS.Max != 20000 {
		t.Errorf("got %+v, want 2 measured in 10 and 20 us, 1 unfinished", s)
	}
	if m := v.Messages[0]; m.UnloadedPaper != r.F.UnloadedPaper(0, 3, 8) {
		t.Errorf("unloaded %v, want %v", m.UnloadedPaper, r.F.UnloadedPaper(0, 3, 8))
	}
}

// Protocols whose authors measure until the acknowledgement have that definition too
// (scenarios/README, Slowdown), and others do not.
func TestSlowdownToTheAcknowledgement(t *testing.T) {
	r := fakerun.New(t, fakerun.OneWay)
	r.Message(0, 3, 0, fakerun.Tag(t, 0, 0), 10_000, 2*ms, 2*ms+10*us) // acknowledged 1 us later
	for _, wanted := range []bool{true, false} {
		v, err := Analyze(fakerun.Open(t, r.Write(t)), Options{Framing: fakerun.Framing,
			ToAck: func(string) bool { return wanted }})
		must(t, err)
		got, ok := v.Latencies.Slowdown[Acked][AllSizes]
		fr, _ := fakerun.Framing("", 1500)
		want := float64(11*us) / float64(r.F.UnloadedExact(0, 3, 10_000, fr)+r.F.UnloadedExact(3, 0, 1, fr))
		if ok != wanted || wanted && (got.Count != 1 || math.Abs(got.P50-want) > 1e-9) {
			t.Errorf("wanted %v: got %v, want %g", wanted, got, want)
		}
	}
}

func TestTooLateIsNotUnfinished(t *testing.T) {
	r := fakerun.New(t, fakerun.OneWay)
	r.X.Drain, r.Facts.Reached = 0, 9*ms
	r.Message(0, 1, 0, fakerun.Tag(t, 0, 0), 10_000_000, 9*ms-100*us, 0) // takes 800 us unloaded
	r.Message(0, 1, 1, fakerun.Tag(t, 0, 1), 1000, 9*ms-100*us, 0)
	s, _ := analyze(t, r).Stream("rpc")
	if s.TooLate != 1 || s.Unfinished != 1 {
		t.Errorf("got %+v, want 1 too late and 1 unfinished", s)
	}
}

func TestGoodputFallsBackOnGauges(t *testing.T) {
	r := fakerun.New(t, fakerun.OneWay)
	r.Counter(0, payloadCounter, 8_000_000)
	r.Counter(1, payloadCounter, 4_000_000)
	r.Gauge(2, 0, PayloadGauge, fakerun.At(0, 0), fakerun.At(2*ms, 1_000_000), fakerun.At(10*ms, 9_000_000))
	r.Cut["h2-1"] = true
	v := analyze(t, r)
	if got := v.Goodput.Hosts["h1-1"]; got != 8 {
		t.Errorf("8 MB in 8 ms is %v Gbps, want 8", got)
	}
	// 500 KB by 1 ms; the log ends at 10 ms, the window at 9 ms with 8 MB.
	if got := v.Goodput.Hosts["h2-1"]; got != 7.5 {
		t.Errorf("by the gauge %v Gbps, want 7.5", got)
	}
	if got := v.Goodput.Gbps; math.Abs(got-(8+4+7.5)/4) > 1e-9 {
		t.Errorf("per host %v Gbps, want %v", got, (8+4+7.5)/4)
	}
}

func TestDigestNamesTheOutcome(t *testing.T) {
	make := func(change func(*fakerun.Run)) string {
		r := fakerun.New(t, fakerun.OneWay)
		for i := range 50 {
			r.Message(topo.HostID(i%2), 2+topo.HostID(i%2), i/2, fakerun.Tag(t, 0, i), 1000, ms+units.Time(i)*us,
				ms+units.Time(i+9)*us)
		}
		r.Queues = []record.Record{{Kind: record.Queue, Peer: 3, ID: 2, N: 3000, At: 20 * us},
			{Kind: record.Tick, At: 20 * us}}
		if change != nil {
			change(r)
		}
		return analyze(t, r).Digest
	}
	first := make(nil)
	if again := make(func(r *fakerun.Run) {
		r.Facts.Started, r.Facts.Wall = r.Facts.Started.Add(1e15), 99
		slices.Reverse(r.Hosts[2]) // written in another order
	}); again != first {
		t.Error("the digest depends on the wall clock or on the order of records")
	}
	if other := make(func(r *fakerun.Run) { r.Hosts[2][4].At++ }); other == first {
		t.Error("a nanosecond's difference in a delivery is not in the digest")
	}
	if other := make(func(r *fakerun.Run) { r.Queues[0].N++ }); other == first {
		t.Error("a byte's difference in a queue is not in the digest")
	}
	a, b := &Variant{Name: "a", Digest: "1"}, &Variant{Name: "b", Digest: "2"}
	if Digest([]*Variant{a, b}) != Digest([]*Variant{b, a}) {
		t.Error("the digest depends on the order of variants")
	}
}
