package reproduce

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sirdbed/topo/units"
	"sirdbed/traffic"
)

func plan(t *testing.T, o Options) []Job {
	t.Helper()
	if o.Scale == nil {
		o.Scale, _ = FindScale("smoke")
	}
	jobs, err := Plan(o)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

// The paper's scenarios are those in the binary, whatever files there are.
func TestPlanLeavesFilesAlone(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"incast", "outcast"} {
		if err := os.WriteFile(name, []byte("name: mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plan(t, Options{})
}

func counted(jobs []Job) (rounds [5]int) {
	for i := range jobs {
		rounds[jobs[i].Round]++
	}
	return rounds
}

// The tables are of nine configurations and workloads and six protocols.
func TestPlanOfThePaper(t *testing.T) {
	if testing.Short() {
		t.Skip("144 hosts many times over")
	}
	scale, err := FindScale("paper")
	if err != nil {
		t.Fatal(err)
	}
	jobs := plan(t, Options{Scale: scale, Figures: []string{"tables"}, Protocols: []string{"sird"}, Seeds: 2})
	if got, want := counted(jobs), [5]int{9, 63, 9, 9, 0}; got != want {
		t.Errorf("%v points by round, want %v", got, want)
	}
	for _, j := range jobs {
		if j.Label("workload") != "wkc" || j.Label("load") != Half || j.Study != "balanced" || j.Round != roundTables {
			continue
		}
		// 35,800 messages of 2.479 MB at 50 Gbps on 144 hosts.
		if ms := j.Experiment.Duration.Milliseconds(); ms < 98 || ms > 99 {
			t.Errorf("WKc at half load has a window of %v", j.Experiment.Duration)
		}
	}
}

// Warm-up and window are the same for all protocols and seeds.
func TestAllProtocolsRunAsLong(t *testing.T) {
	type place struct{ study, workload, load string }
	type times struct{ warmup, duration units.Time }
	seen := map[place]map[bool]times{}
	for _, j := range plan(t, Options{}) {
		p := place{j.Study, j.Label("workload"), j.Label("load")}
		if seen[p] == nil {
			seen[p] = map[bool]times{}
		}
		now := times{j.Experiment.Warmup, j.Experiment.Duration}
		if first, ok := seen[p][j.Full]; ok && first != now {
			t.Errorf("%v: %v, and %v", p, first, now)
		}
		seen[p][j.Full] = now
	}
}

// The warm-up is by configuration, workload and load, and no shorter at higher loads.
func TestWarmUpIsByTheTable(t *testing.T) {
	scale, err := FindScale("paper")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		study, workload string
		load            float64
		want            units.Time
	}{
		{"balanced", "wka", 0.5, 2 * units.Millisecond},
		{"balanced", "wka", 0.7, 12 * units.Millisecond},
		{"balanced", "wka", 0.95, 14 * units.Millisecond},
		{"balanced", "wkc", 0.7, 20 * units.Millisecond},
		{"incast", "wkb", 0.5, 12 * units.Millisecond},
		{"core", "wkb", 0.5, 20 * units.Millisecond},
		{"core", "wkc", 0.8, 30 * units.Millisecond},
		{"frontier", "wkc", 0.95, 40 * units.Millisecond},
	} {
		if got := scale.warmUp(test.study, test.workload, test.load); got != test.want {
			t.Errorf("%s, %s, load %v: %v, want %v", test.study, test.workload, test.load, got, test.want)
		}
	}
	for place, list := range warmups {
		if !slices.IsSorted(list[:]) {
			t.Errorf("%s is warmed up for %v: shorter at a higher load", place, list)
		}
	}
}

func TestPlanIsChangedByOptions(t *testing.T) {
	all := plan(t, Options{})
	fig2 := plan(t, Options{Figures: []string{"fig2"}})
	if len(fig2) != 13 || len(fig2) >= len(all) {
		t.Errorf("figure 2 has %d of %d points", len(fig2), len(all))
	}
	more := plan(t, Options{Protocols: []string{"+aimd"}, Figures: []string{"fig7"}, Seeds: 1})
	if !slices.ContainsFunc(more, func(j Job) bool { return j.Experiment.Protocol == "aimd" }) ||
		!slices.ContainsFunc(more, func(j Job) bool { return j.Experiment.Protocol == "dcpim" }) {
		t.Error("a protocol beside the paper's is not in the plan")
	}
	if n := counted(more); n[roundSeeds] != 0 {
		t.Errorf("one seed, and %d points of more", n[roundSeeds])
	}
	half := plan(t, Options{Figures: []string{"fig2"}, Samples: 40})
	if half[0].Experiment.Duration <= fig2[0].Experiment.Duration {
		t.Error("more samples take no longer")
	}
	for _, o := range []Options{{Figures: []string{"fig99"}}, {Protocols: []string{"nosuch"}}} {
		o.Scale = &Scales[2]
		if _, err := Plan(o); err == nil || !strings.Contains(err.Error(), "use one of") {
			t.Errorf("%v: %v", o, err)
		}
	}
	if _, err := FindScale("huge"); err == nil {
		t.Error("a scale that is not there")
	}
}

// Every figure of the list has points.
func TestEachFigureHasPoints(t *testing.T) {
	for _, name := range FigureNames() {
		if len(plan(t, Options{Figures: []string{name}, Seeds: 1})) == 0 {
			t.Errorf("%s has no points", name)
		}
	}
}

// What is compared with the print has dcPIM as its authors' simulator does, with full packets,
// no replies, Poisson arrivals and links of 0.65 us; with true Poisson arrivals it is as the other protocols are.
func TestPlanHasDCPIMAsPrinted(t *testing.T) {
	seen := map[string]int{}
	for _, j := range plan(t, Options{}) {
		x := &j.Experiment
		if x.Protocol != "dcpim" {
			continue
		}
		seen[j.Arrivals]++
		i := slices.IndexFunc(x.Streams, func(s traffic.Stream) bool { return s.Name == "all" })
		full, reply := string(x.Params) == inItsSimulator, x.Streams[i].Reply
		if x.Streams[i].Arrivals != traffic.ArrivalsPoisson {
			t.Errorf("%s: arrivals %s, want Poisson", j.Name(), x.Streams[i].Arrivals)
		}
		if printed := j.Arrivals == "released"; full != printed || (reply == 0) != printed ||
			(x.Topology.CoreDelay == 650) != printed || (x.Topology.HostDelay == 650) != printed {
			t.Errorf("%s, arrivals %s: parameters %s, replies of %v", j.Name(), j.Arrivals, x.Params, reply)
		}
	}
	if seen["released"] == 0 || seen["poisson"] == 0 {
		t.Errorf("points of dcPIM: %v, want some of both arrivals", seen)
	}
}

// Where slowdown is not read ExpressPass's backlog is not waited for.
func TestPlanHasShortDrainsOfExpressPass(t *testing.T) {
	short := 0
	for _, j := range plan(t, Options{Figures: []string{"tables"}, Seeds: 1}) {
		x := &j.Experiment
		load, err := strconv.ParseFloat(j.Label("load"), 64)
		if err != nil {
			t.Fatal(err)
		}
		want := x.Warmup
		if x.Protocol == "xpass" && load > 0.7 {
			want = 10 * units.Microsecond
			short++
		}
		if x.Drain != want {
			t.Errorf("%s: drain %v, want %v", j.Name(), x.Drain, want)
		}
	}
	if short == 0 {
		t.Error("no point of ExpressPass above 70 %")
	}
}

// Progress and errors tell points apart: those of configurations, arrivals and seeds too.
func TestNamesTellPointsApart(t *testing.T) {
	scale, err := FindScale("smoke")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, j := range plan(t, Options{Scale: scale, Seeds: 2}) {
		if seen[j.Name()] {
			t.Errorf("two points are called %s", j.Name())
		}
		seen[j.Name()] = true
	}
}
