package results_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sirdbed/baselines/all"
	"sirdbed/capture/results"
	"sirdbed/capture/stats"
	"sirdbed/capture/verdict"
	"sirdbed/emu"
	"sirdbed/emu/model"
	"sirdbed/emu/tree"
	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

const us, ms = units.Microsecond, units.Millisecond

var foldOptions = results.Options{
	Framing: func(protocol string, mtu units.Bytes) (topo.Framing, error) {
		p, err := all.Find(protocol)
		return p.Framing(mtu), err
	},
	ToAck: func(protocol string) bool {
		p, err := all.Find(protocol)
		return err == nil && p.ToAck
	},
}

// twoRacks is an experiment of Poisson requests, and an incast of some that are answered.
func twoRacks(protocol string, load float64) emu.Experiment {
	return emu.Experiment{
		Scenario: "fold", Variant: protocol, Protocol: protocol, Seed: 3,
		Topology: topo.Spec{
			Leaves: 2, HostsPerLeaf: 3, Spines: 2, HostRate: 100e9, CoreRate: 400e9, HostDelay: us, CoreDelay: us / 2,
		},
		Streams: []traffic.Stream{
			{Name: "all", Pattern: traffic.PatternPoisson, Sizes: "wkb", Load: load, Reply: 4,
				Latency: traffic.LatencyRequest},
			{Name: "rpc", Pattern: traffic.PatternPoisson, Sizes: "wka", Load: 0.02, Reply: 300},
			{Name: "burst", Pattern: traffic.PatternIncast, Size: 50_000, FanIn: 3, Load: 0.01},
		},
		Warmup: ms, Duration: 2 * ms, Drain: ms, QueueEvery: 10 * us, GaugeEvery: 20 * us,
	}
}

// What a Fold makes of a run while it goes on, Analyze makes of its files, to within the
// bins of histograms.
func TestFoldAgreesWithAnalyze(t *testing.T) {
	for _, c := range []struct {
		protocol string
		load     float64
		change   func(*emu.Experiment)
	}{
		{"sird", 0.6, func(*emu.Experiment) {}},
		{"dcpim", 0.4, func(*emu.Experiment) {}},
		{"xpass", 0.9, func(x *emu.Experiment) { x.Drain = 0 }}, // much is left unfinished
		{"homa", 0.5, func(x *emu.Experiment) { x.Faults = fault.Config{Drop: 0.02} }},
		{"dctcp", 0.5, func(x *emu.Experiment) { x.Warmup, x.QueueLimit = 0, 100_000 }},
	} {
		t.Run(c.protocol, func(t *testing.T) {
			x := twoRacks(c.protocol, c.load)
			c.change(&x)
			want := analyzed(t, &x)
			got := foldedRun(t, &x)
			compareVariants(t, got, want)
			compareCourse(t, got.Course, want)
			if again := foldedRun(t, &x); again.Digest != got.Digest {
				t.Error("a second run has another digest")
			}
			a, b := verdict.Judge(got), verdict.Judge(want)
			if a.Level != b.Level || len(a.Checks) != len(b.Checks) {
				t.Errorf("verdict %s of %d checks, want %s of %d: %v", a.Level, len(a.Checks), b.Level, len(b.Checks),
					a.Reasons)
			}
		})
	}
}

func analyzed(t *testing.T, x *emu.Experiment) *results.Variant {
	t.Helper()
	dir := runDir(t)
	_, err := model.Engine{}.Run(t.Context(), x, dir, emu.Hooks{})
	must(t, err)
	v, err := results.Analyze(dir, foldOptions)
	must(t, err)
	return v
}

func foldedRun(t *testing.T, x *emu.Experiment) *results.Variant {
	t.Helper()
	fold, err := results.NewFold(x, foldOptions)
	must(t, err)
	facts, err := model.Engine{}.Run(t.Context(), x, runDir(t), emu.Hooks{CreateLog: fold.Create})
	must(t, err)
	return fold.Variant(facts)
}

func runDir(t *testing.T) emu.RunDir {
	t.Helper()
	dir, err := tree.Make(filepath.Join(t.TempDir(), "run"))
	must(t, err)
	t.Cleanup(func() { dir.Close() })
	return emu.RunDir{Dir: dir}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// compareVariants compares every figure of two summaries that a Fold has.
func compareVariants(t *testing.T, got, want *results.Variant) {
	t.Helper()
	g := results.Summarize([]*results.Variant{got}).Variants[0]
	w := results.Summarize([]*results.Variant{want}).Variants[0]
	near := func(what string, got, want, within float64) {
		if math.Abs(got-want) > within*math.Abs(want)+1e-9 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	summaries := func(what string, got, want stats.Summary) {
		if got.Count != want.Count || got.Min != want.Min || got.Max != want.Max {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
		near(what+", mean", got.Mean, want.Mean, 1e-9)
		near(what+", p50", got.P50, want.P50, 1e-3)
		near(what+", p99", got.P99, want.P99, 1e-3)
		near(what+", p99.9", got.P999, want.P999, 1e-3)
	}
	depths := func(what string, got, want results.QueueStats, within float64) {
		if got.Max != want.Max {
			t.Errorf("%s: deepest %d, want %d", what, got.Max, want.Max)
		}
		near(what+", mean", got.Mean, want.Mean, 1e-9)
		near(what+", p99", float64(got.P99), float64(want.P99), within)
		near(what+", p99.9", float64(got.P999), float64(want.P999), within)
	}
	if got.MessageCount != want.MessageCount {
		t.Errorf("%d messages, want %d", got.MessageCount, want.MessageCount)
	}
	near("goodput", g.GoodputGbps, w.GoodputGbps, 1e-12)
	near("offered", got.OfferedGbps, want.OfferedGbps, 1e-9)
	if len(g.Slowdown) != len(w.Slowdown) || len(g.Streams) != len(w.Streams) || len(g.Gauges) != len(w.Gauges) {
		t.Fatalf("%d definitions, %d streams, %d gauges, want %d, %d, %d", len(g.Slowdown), len(g.Streams),
			len(g.Gauges), len(w.Slowdown), len(w.Streams), len(w.Gauges))
	}
	for definition, groups := range w.Slowdown {
		for name, s := range groups {
			summaries("slowdown "+definition+" "+name, g.Slowdown[definition][name], s)
		}
	}
	for i, s := range w.Streams {
		o := g.Streams[i]
		summaries("latency of "+s.Name, o.LatencyNS, s.LatencyNS)
		o.LatencyNS, o.Slowdown, s.LatencyNS, s.Slowdown = stats.Summary{}, nil, stats.Summary{}, nil
		if a, b := jsonOf(t, o), jsonOf(t, s); a != b {
			t.Errorf("stream %s, want %s", a, b)
		}
	}
	for name, s := range w.Gauges {
		near("gauge "+name, g.Gauges[name].Mean, s.Mean, 1e-9)
		if g.Gauges[name].Max != s.Max || g.Gauges[name].Hosts != s.Hosts {
			t.Errorf("gauge %s is %+v, want %+v", name, g.Gauges[name], s)
		}
	}
	depths("queues", results.QueueStats{Max: g.QueueBytes.Max, Mean: g.QueueBytes.Mean, P99: g.QueueBytes.P99,
		P999: g.QueueBytes.P999}, results.QueueStats{Max: w.QueueBytes.Max, Mean: w.QueueBytes.Mean,
		P99: w.QueueBytes.P99, P999: w.QueueBytes.P999}, 2e-3)
	if g.QueueBytes.Samples != w.QueueBytes.Samples || g.QueueBytes.MaxPort != w.QueueBytes.MaxPort {
		t.Errorf("%d samples, deepest port %d, want %d, %d", g.QueueBytes.Samples, g.QueueBytes.MaxPort,
			w.QueueBytes.Samples, w.QueueBytes.MaxPort)
	}
	for name, s := range w.QueueBytes.Switches {
		depths(name, g.QueueBytes.Switches[name], s, 2e-3)
	}
	for name, s := range w.QueueBytes.Ports {
		depths(name, g.QueueBytes.Ports[name], s, 1e-2)
	}
	for _, part := range []struct{ got, want any }{
		{g.Counters, w.Counters}, {g.Conserved, w.Conserved}, {got.Problems, want.Problems}, {g.GoodputBy, w.GoodputBy},
	} {
		if a, b := jsonOf(t, part.got), jsonOf(t, part.want); a != b {
			t.Errorf("%s, want %s", a, b)
		}
	}
}

// compareCourse compares a Course's gauges with the series that they are means of.
func compareCourse(t *testing.T, got *results.Course, want *results.Variant) {
	t.Helper()
	for _, name := range want.GaugeNames() {
		list, ok := got.Gauges[name]
		if name == results.PayloadGauge || strings.Contains(name, "/") {
			if ok {
				t.Errorf("the course has gauge %s", name)
			}
			continue
		}
		if len(list) != len(got.Offered) {
			t.Errorf("gauge %s has %d of %d parts", name, len(list), len(got.Offered))
		}
		for i, v := range list {
			sum, from := 0.0, units.Time(i)*got.Slice
			for _, s := range want.Gauges {
				if s.Gauge != name {
					continue
				}
				in := s.Between(from, min(from+got.Slice, want.To))
				for _, p := range in {
					sum += p.Value / float64(len(in))
				}
			}
			if math.Abs(v-sum) > 1e-9*math.Abs(sum)+1e-9 {
				t.Errorf("gauge %s is %v in part %d, want %v", name, v, i, sum)
			}
		}
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}

// A run that carries what it is offered is stable, one that carries less is not, and the
// course of both has all that was offered.
func TestGrowthOfWhatIsUndelivered(t *testing.T) {
	for _, c := range []struct {
		load     float64
		unstable bool
	}{{0.5, false}, {1.2, true}} {
		x := twoRacks("dctcp", c.load)
		x.Streams = x.Streams[:1]
		x.Duration, x.Streams[0].Overload = 8*ms, true
		v := foldedRun(t, &x)
		if s := v.Stability; !s.Known || s.Unstable != c.unstable {
			t.Errorf("load %v: %+v", c.load, s)
		}
		sum := 0.0
		for _, n := range v.Course.Offered {
			sum += n
		}
		if gbps := results.Gbps(sum, v.To) / 6; math.Abs(gbps-100*c.load) > 35*c.load {
			t.Errorf("load %v: %v Gbps a host were offered", c.load, gbps)
		}
	}
}

// Logs that are cut, contradict each other or are damaged are problems.
func TestFoldOfDamagedLogs(t *testing.T) {
	x := twoRacks("sird", 0.3)
	logs := map[string][]byte{}
	create := func(name string) (io.WriteCloser, error) { return &kept{name: name, logs: logs}, nil }
	facts, err := model.Engine{}.Run(t.Context(), &x, runDir(t), emu.Hooks{CreateLog: create})
	must(t, err)
	log := emu.HostLog("h1-2")
	for _, c := range []struct {
		name   string
		damage func([]byte) []byte
		kind   results.ProblemKind
	}{
		{"cut", func(b []byte) []byte { return b[:len(b)*2/3] }, results.HostLogCut},
		{"empty", func([]byte) []byte { return nil }, results.HostLogCut},
		{"damaged", func(b []byte) []byte {
			copy(b[len(b)/2:], bytes.Repeat([]byte{255}, 64))
			return b
		}, results.HostLogCut},
		{"twice", func(b []byte) []byte { return slices.Concat(b, b[17:]) }, results.Integrity},
	} {
		fold, err := results.NewFold(&x, foldOptions)
		must(t, err)
		for name, text := range logs {
			w, err := fold.Create(name)
			must(t, err)
			if text = slices.Clone(text); name == log {
				text = c.damage(text)
			}
			for part := range slices.Chunk(text, 1000) {
				if _, err := w.Write(part); err != nil {
					break
				}
			}
			must(t, w.Close())
		}
		if v := fold.Variant(facts); len(v.ProblemsOf(c.kind)) == 0 || verdict.Judge(v).Level != results.Invalid {
			t.Errorf("%s: %v", c.name, v.Problems)
		}
	}
}

// A kept log is in memory.
type kept struct {
	name string
	logs map[string][]byte
}

func (k *kept) Write(b []byte) (int, error) {
	k.logs[k.name] = append(k.logs[k.name], b...)
	return len(b), nil
}

func (k *kept) Close() error { return nil }

func TestWhatCannotBeFolded(t *testing.T) {
	for i, change := range []func(*emu.Experiment){
		func(x *emu.Experiment) { x.Apps = []emu.App{{}} },
		func(x *emu.Experiment) { x.Capture = []string{"leaf1"} },
		func(x *emu.Experiment) { x.Hosts = []emu.HostSpec{{}} },
		func(x *emu.Experiment) { x.Timeline = fault.Timeline{{Do: fault.Kill}} },
	} {
		x := twoRacks("sird", 0.5)
		change(&x)
		if _, err := results.NewFold(&x, foldOptions); !errors.Is(err, results.ErrNotFolded) {
			t.Error(fmt.Sprint(i), err)
		}
	}
}
