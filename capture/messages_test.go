package capture

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

func floatBits(f float64) int64 { return int64(math.Float64bits(f)) }

var oneWay = traffic.Stream{Name: "rpc", Pattern: traffic.PatternFixed, Size: 1000}

// Every message is in one class, and what is measured is what the definition
// says, computed here message by message.
func TestStatisticsAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	incast := traffic.Stream{Name: "burst", Pattern: traffic.PatternIncast, Size: 500000}
	r := newRun(t, oneWay, incast)
	from, to := r.x.Window()
	var latencies, slow []float64
	groups := map[string][]float64{}
	counts := map[string]int{}
	ids := map[[2]topo.HostID]int{}
	for i := range 3000 {
		src := topo.HostID(rng.IntN(4))
		dst := topo.HostID((int(src) + 1 + rng.IntN(3)) % 4)
		stream := b2i(rng.IntN(10) == 0)
		size := units.Bytes(1 + rng.IntN(2_000_000))
		if rng.IntN(2) == 0 {
			size = units.Bytes(1 + rng.IntN(3000))
		}
		at := units.Time(rng.IntN(int(10 * ms)))
		done := at + r.f.UnloadedPaper(src, dst, size) + units.Time(rng.IntN(int(ms)))
		if rng.IntN(20) == 0 {
			done = 0
		}
		pair := [2]topo.HostID{src, dst}
		r.message(src, dst, ids[pair], tag(t, stream, i), size, at, done)
		ids[pair]++
		switch {
		case at < from:
			counts["warmup"]++
		case at >= to:
		case done == 0:
			counts["lost"]++
		case stream == 0:
			latencies = append(latencies, float64(done-at))
			s := float64(done-at) / float64(r.f.UnloadedPaper(src, dst, size))
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
	v := r.analyze(t)
	if p := v.problemsOf(Integrity); len(p) > 0 {
		t.Fatal(p)
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
		if c.got != c.want {
			t.Errorf("%s = %v, want %v", c.what, c.got, c.want)
		}
	}
	b, _ := v.Stream("burst")
	if b.Slowdown != nil || b.LatencyNS.Count == 0 {
		t.Errorf("incast: slowdown %v, %d latencies", b.Slowdown, b.LatencyNS.Count)
	}
	if s.Warmup+b.Warmup != counts["warmup"] {
		t.Errorf("%d in the warm-up, want %d", s.Warmup+b.Warmup, counts["warmup"])
	}
	if n := s.Unfinished + s.TooLate + b.Unfinished + b.TooLate; n != counts["lost"] {
		t.Errorf("%d did not finish, want %d", n, counts["lost"])
	}
	for definition, want := range map[string]float64{Paper: 1, Exact: 0.5} {
		if least := v.Latencies.Slowdown[definition][AllSizes].Min; least < want {
			t.Errorf("%s slowdown of %v", definition, least)
		}
	}
}

func TestRequestLastsToItsReply(t *testing.T) {
	r := newRun(t, traffic.Stream{Name: "rr", Pattern: traffic.PatternFixed, Size: 8, Reply: 100})
	r.message(0, 3, 0, tag(t, 0, 0), 8, 2*ms, 2*ms+10*us)
	r.message(3, 0, 0, tag(t, 0, 0).Reply(), 100, 2*ms+10*us, 2*ms+25*us)
	r.message(0, 3, 1, tag(t, 0, 1), 8, 3*ms, 3*ms+10*us) // its reply never comes
	r.message(1, 3, 0, tag(t, 0, 0), 8, 3*ms, 3*ms+10*us) // the same tag from another host
	r.message(3, 1, 0, tag(t, 0, 0).Reply(), 100, 3*ms+10*us, 3*ms+40*us)
	v := r.analyze(t)
	s, _ := v.Stream("rr")
	if s.Measured != 2 || s.Unfinished != 1 || s.LatencyNS.Min != 25000 || s.LatencyNS.Max != 40000 {
		t.Errorf("%+v", s)
	}
	m := v.Messages[0]
	if want := r.f.UnloadedPaper(0, 3, 8) + r.f.UnloadedPaper(3, 0, 100); m.UnloadedPaper != want {
		t.Errorf("unloaded %v, want %v", m.UnloadedPaper, want)
	}
}

// protocols.md section 9: the paper's slowdown is of the request only.
func TestRequestAloneIsMeasuredWhereAsked(t *testing.T) {
	r := newRun(t, traffic.Stream{Name: "rr", Pattern: traffic.PatternFixed, Size: 8, Reply: 100, Latency: traffic.LatencyRequest})
	r.message(0, 3, 0, tag(t, 0, 0), 8, 2*ms, 2*ms+10*us)
	r.message(3, 0, 0, tag(t, 0, 0).Reply(), 100, 2*ms+10*us, 2*ms+25*us)
	r.message(0, 3, 1, tag(t, 0, 1), 8, 3*ms, 3*ms+20*us) // its reply never comes
	r.message(1, 3, 0, tag(t, 0, 0), 8, 3*ms, 0)
	v := r.analyze(t)
	s, _ := v.Stream("rr")
	if s.Measured != 2 || s.Unfinished != 1 || s.LatencyNS.Min != 10000 || s.LatencyNS.Max != 20000 {
		t.Errorf("%+v", s)
	}
	if m := v.Messages[0]; m.UnloadedPaper != r.f.UnloadedPaper(0, 3, 8) {
		t.Errorf("unloaded %v, want %v", m.UnloadedPaper, r.f.UnloadedPaper(0, 3, 8))
	}
}

func TestTooLateIsNotUnfinished(t *testing.T) {
	r := newRun(t, oneWay)
	r.x.Drain, r.facts.Reached = 0, 9*ms
	r.message(0, 1, 0, tag(t, 0, 0), 10_000_000, 9*ms-100*us, 0) // takes 800 us unloaded
	r.message(0, 1, 1, tag(t, 0, 1), 1000, 9*ms-100*us, 0)
	s, _ := r.analyze(t).Stream("rpc")
	if s.TooLate != 1 || s.Unfinished != 1 {
		t.Errorf("%+v", s)
	}
}

func TestIntegrityErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*fakeRun)
		want string
	}{
		{"twice", func(r *fakeRun) { r.log(1, record.Delivered, 0, 0, 0, 3*ms, 1000) }, "delivered twice"},
		{"never offered", func(r *fakeRun) { r.log(1, record.Delivered, 0, 9, 0, 3*ms, 1000) }, "never offered"},
		{"wrong size", func(r *fakeRun) { r.message(0, 2, 0, 0, 500, 2*ms, 0); r.log(2, record.Delivered, 0, 0, 0, 3*ms, 501) }, "ended with 501"},
		{"before it was sent", func(r *fakeRun) { r.message(0, 2, 0, 0, 500, 2*ms, ms) }, "before it was offered"},
		{"bytes", func(r *fakeRun) { r.counter(2, "payload_mismatches", 3) }, "3 packets carried bytes"},
		{"no such host", func(r *fakeRun) { r.log(0, record.Offered, 77, 0, 0, ms, 1) }, "host number 77"},
		{"no such stream", func(r *fakeRun) { r.message(0, 2, 0, traffic.Tag(5<<24), 500, 2*ms, 3*ms) }, "stream 5"},
	} {
		r := newRun(t, oneWay)
		r.message(0, 1, 0, 0, 1000, 2*ms, 2*ms+9*us)
		c.do(r)
		v := r.analyze(t)
		if v.Verdict.Level != Invalid || !strings.Contains(strings.Join(v.Verdict.Reasons, "\n"), c.want) {
			t.Errorf("%s: %s %q, want INVALID with %q", c.name, v.Verdict.Level, v.Verdict.Reasons, c.want)
		}
	}
}

// A log that was cut costs what it held; a message whose offer it held is no
// integrity error.
func TestCutLogsAreReadUpToTheirCut(t *testing.T) {
	r := newRun(t, oneWay)
	r.message(0, 1, 0, 0, 1000, 2*ms, 2*ms+9*us)
	r.log(1, record.Delivered, 2, 0, 0, 3*ms, 1000) // h2-1's log lost the offer
	r.cut["h2-1"] = true
	dir := r.write(t)
	v, err := Analyze(dir, Options{Framing: testFraming})
	must(t, err)
	if len(v.problemsOf(HostLogCut)) != 1 || len(v.problemsOf(Integrity)) != 0 || v.Latencies.Latency.Count != 1 {
		t.Errorf("problems %v, %d latencies", v.Problems, v.Latencies.Latency.Count)
	}
	if v.Verdict.Level != Invalid {
		t.Errorf("verdict %s", v.Verdict.Level)
	}

	// Whatever is cut off whichever log, what is left is read.
	for _, name := range []string{"hosts/h1-1.rec", "hosts/h1-2.rec", "queues.rec", "facts.json"} {
		whole, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		for _, n := range []int{0, 1, 17, 20, len(whole) / 2, len(whole) - 1} {
			must(t, os.WriteFile(filepath.Join(dir, name), whole[:min(n, len(whole))], 0o644))
			if _, err := Analyze(dir, Options{Framing: testFraming}); err != nil {
				t.Errorf("%s cut to %d: %v", name, n, err)
			}
		}
		must(t, os.Remove(filepath.Join(dir, name)))
		if v, err := Analyze(dir, Options{}); err != nil || v.Verdict.Level == Pass {
			t.Errorf("without %s: %v", name, err)
		}
		must(t, os.WriteFile(filepath.Join(dir, name), whole, 0o644))
	}
	must(t, os.WriteFile(filepath.Join(dir, "experiment.json"), []byte(`{"topology":`), 0o644))
	if _, err := Analyze(dir, Options{}); err == nil || !strings.Contains(err.Error(), "experiment.json") {
		t.Errorf("a broken experiment.json: %v", err)
	}
}

func TestGoodputFallsBackOnGauges(t *testing.T) {
	r := newRun(t, oneWay)
	r.counter(0, payloadCounter, 8_000_000)
	r.counter(1, payloadCounter, 4_000_000)
	r.gauge(2, 0, payloadGauge, GaugePoint{0, 0}, GaugePoint{2 * ms, 1_000_000}, GaugePoint{10 * ms, 9_000_000})
	r.cut["h2-1"] = true
	v := r.analyze(t)
	if got := v.Goodput.Hosts["h1-1"]; got != 8 {
		t.Errorf("8 MB in 8 ms is %v Gbps", got)
	}
	// 500 KB by 1 ms; the log ends at 10 ms, the window at 9 ms with 8 MB.
	if got := v.Goodput.Hosts["h2-1"]; got != 7.5 {
		t.Errorf("by the gauge %v Gbps", got)
	}
	if got := v.Goodput.Gbps; math.Abs(got-(8+4+7.5)/4) > 1e-9 {
		t.Errorf("per host %v Gbps", got)
	}
}

func TestDigestNamesTheOutcome(t *testing.T) {
	make := func(change func(*fakeRun)) string {
		r := newRun(t, oneWay)
		for i := range 50 {
			r.message(topo.HostID(i%2), 2+topo.HostID(i%2), i/2, tag(t, 0, i), 1000, ms+units.Time(i)*us, ms+units.Time(i+9)*us)
		}
		r.queues = []record.Record{{Kind: record.Queue, Peer: 3, ID: 2, N: 3000, At: 20 * us}, {Kind: record.Tick, At: 20 * us}}
		if change != nil {
			change(r)
		}
		return r.analyze(t).Digest
	}
	first := make(nil)
	if again := make(func(r *fakeRun) {
		r.facts.Started, r.facts.Wall = r.facts.Started.Add(1e15), 99
		slices.Reverse(r.hosts[2]) // written in another order
	}); again != first {
		t.Error("the digest depends on the wall clock or on the order of records")
	}
	if other := make(func(r *fakeRun) { r.hosts[2][4].At++ }); other == first {
		t.Error("a nanosecond's difference in a delivery is not in the digest")
	}
	if other := make(func(r *fakeRun) { r.queues[0].N++ }); other == first {
		t.Error("a byte's difference in a queue is not in the digest")
	}
	a, b := &Variant{Name: "a", Digest: "1"}, &Variant{Name: "b", Digest: "2"}
	if Digest([]*Variant{a, b}) != Digest([]*Variant{b, a}) {
		t.Error("the digest depends on the order of variants")
	}
}
