package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/capture/results"
	"sirdbed/capture/verdict"
	"sirdbed/emu"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

const ms = units.Millisecond

// run writes the logs of a made-up variant and analyzes them: h1-1 sends to
// h1-2, and latency grows with the seed.
func run(t *testing.T, name string, seed uint64) *results.Variant {
	t.Helper()
	x := emu.Experiment{
		Scenario: "made <up>", Variant: name, Protocol: "sird", Seed: seed,
		Topology: topo.Spec{Leaves: 1, HostsPerLeaf: 3, HostRate: 100 * units.Gbps, HostDelay: 1000},
		Streams: []traffic.Stream{
			{Name: "small", Pattern: traffic.PatternPoisson, Size: 8},
			{Name: "large/one", Pattern: traffic.PatternFixed, Size: 500000},
		},
		Warmup: ms, Duration: 8 * ms, Drain: ms, QueueEvery: 10000, GaugeEvery: 100000,
	}
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "hosts"), 0o755))
	save(t, filepath.Join(dir, "experiment.json"), x)
	facts := emu.Facts{Engine: "real", Dilation: 500, Reached: 10 * ms, Lateness: emu.Lateness{Count: 1, P99: 90},
		Features: emu.Features{Burst: 1538}}
	rng := rand.New(rand.NewPCG(seed, 1))
	logs := make([][]record.Record, 3)
	for i := range 2000 {
		tag, _ := traffic.MakeTag(i%20/19, i)
		size := x.Streams[i%20/19].Size
		at := units.Time(i) * 5000
		done := at + 5000 + units.Time(size)*9/100 +
			units.Time(rng.ExpFloat64()*1000*float64(seed))*(1+units.Time(size)/10000)
		logs[0] = append(logs[0], record.Record{Kind: record.Offered, Peer: 1, ID: uint32(i), Tag: uint32(tag), At: at,
			N: int64(size)})
		logs[1] = append(logs[1], record.Record{Kind: record.Delivered, Peer: 0, ID: uint32(i), Tag: uint32(tag),
			At: done, N: int64(size)})
	}
	for h := range logs {
		logs[h] = append(logs[h], record.Record{Kind: record.GaugeName, Text: "payload_received"},
			record.Record{Kind: record.GaugeName, Peer: 1, Text: "credit_held"})
		for at := units.Time(0); at < 10*ms; at += 100000 {
			logs[h] = append(logs[h],
				record.Record{Kind: record.Gauge, At: at, N: int64(math.Float64bits(float64(at) * float64(h)))},
				record.Record{Kind: record.Gauge, Peer: 1, At: at,
					N: int64(math.Float64bits(50000 + 20000*rng.NormFloat64()))})
		}
		facts.Hosts = append(facts.Hosts, emu.HostFacts{Name: fmt.Sprintf("h1-%d", h+1), Finished: true})
		writeLog(t, filepath.Join(dir, "hosts", fmt.Sprintf("h1-%d.rec", h+1)), logs[h])
	}
	var queues []record.Record
	for at := units.Time(0); at < 10*ms; at += 10000 {
		queues = append(queues, record.Record{Kind: record.Queue, Peer: 3, At: at, N: rng.Int64N(40000)},
			record.Record{Kind: record.Tick, At: at})
	}
	writeLog(t, filepath.Join(dir, "queues.rec"), queues)
	save(t, filepath.Join(dir, "facts.json"), facts)
	v, err := results.Analyze(fakerun.Open(t, dir), results.Options{Framing: fakerun.Framing})
	must(t, err)
	v.Verdict = verdict.Judge(v)
	return v
}

func writeLog(t *testing.T, path string, records []record.Record) {
	t.Helper()
	file, err := os.Create(path)
	must(t, err)
	w := record.NewWriter(file)
	for _, r := range append(records, record.Record{Kind: record.End, At: 10 * ms}) {
		must(t, w.Put(r))
	}
	must(t, w.Flush())
	must(t, file.Close())
}

func save(t *testing.T, path string, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	must(t, err)
	must(t, os.WriteFile(path, data, 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func result(t *testing.T) ([]*results.Variant, *results.Summary) {
	variants := []*results.Variant{run(t, "fast", 1), run(t, "slow", 9)}
	s := results.Summarize(variants)
	limit := 3.5
	s.Bounds = []results.Bound{{Name: "goodput", Value: 3.25, Min: &limit, Unit: "Gbps"},
		{Name: "p99", Value: 2, Max: &limit, OK: true}, {Name: "lost", Error: "no stream"}}
	return variants, s
}

func TestTablesFitATerminal(t *testing.T) {
	_, s := result(t)
	var out bytes.Buffer
	must(t, Print(&out, s))
	for line := range strings.SplitSeq(out.String(), "\n") {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"fast", "slow", "FAIL", "ok", "p99.9", "large/one", "leaf1>h1-2", "Verdict: PASS",
		"credit_held", "A <1460B", "80*", "lost: no stream"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if err := Print(failing{}, s); err == nil {
		t.Error("a writer's error is not told")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// The page is one file: it refers to nothing outside, and its figures are
// well-formed and not full of points.
func TestPageStandsAlone(t *testing.T) {
	variants, s := result(t)
	dir := t.TempDir()
	about := About{Command: "sirdbed run 'made <up>'"}
	must(t, Write(fakerun.Open(t, dir).Dir, results.NewManifest(nil, variants, s), s, variants, about))
	text, err := os.ReadFile(filepath.Join(dir, PageFile))
	must(t, err)
	for _, bad := range []string{" src=", "href=\"h", "@import", "url(", "made <up>", "fetch(", "XMLHttp", "import("} {
		if bytes.Contains(text, []byte(bad)) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, want := range []string{"made &lt;up&gt;", "PASS", "<svg", "wake-up lateness", "Latency of small", "Goodput",
		"bursts of 1.538KB", `class=" FAIL"`, "Stable?", "sirdbed run &#39;made"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the page has no %q", want)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, PlotsDir, "*.svg"))
	must(t, err)
	if len(files) < 6 {
		t.Errorf("plots %v", files)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		must(t, err)
		if len(data) > 150_000 {
			t.Errorf("%s has %d bytes", path, len(data))
		}
		d := xml.NewDecoder(bytes.NewReader(data))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Errorf("%s: %v", path, err)
				break
			}
		}
		if bytes.Contains(data, []byte("NaN")) {
			t.Errorf("%s has NaN", path)
		}
	}
	if strings.Contains(strings.Join(files, " "), "large/one") {
		t.Error("a stream's name makes a path")
	}
}

// A run that measured nothing has a page too.
func TestPageOfNothing(t *testing.T) {
	v := run(t, "empty", 1)
	x := v.Experiment
	dir := t.TempDir()
	save(t, filepath.Join(dir, "experiment.json"), x)
	empty, err := results.Analyze(fakerun.Open(t, dir), results.Options{})
	must(t, err)
	empty.Verdict = verdict.Judge(empty)
	variants := []*results.Variant{empty}
	s := results.Summarize(variants)
	must(t, Print(io.Discard, s))
	must(t, Write(fakerun.Open(t, dir).Dir, results.NewManifest(nil, variants, s), s, variants, About{}))
	text, err := os.ReadFile(filepath.Join(dir, PageFile))
	must(t, err)
	if !bytes.Contains(text, []byte("INVALID")) {
		t.Error("the page does not say that the run is INVALID")
	}
}

func TestCompare(t *testing.T) {
	a := results.Summarize([]*results.Variant{run(t, "fast", 1)})
	b := results.Summarize([]*results.Variant{run(t, "fast", 9)})
	c := Compare([]string{"x/one", "x/two/summary.json"}, []*results.Summary{a, b})
	found := false
	for _, row := range c.Rows {
		if row.Metric == "latency of small p99, us" {
			found = true
			first, second := *row.Values[0].Value, *row.Values[1].Value
			if row.Values[0].Relative != nil || math.Abs(*row.Values[1].Relative-(second/first-1)) > 1e-12 ||
				second < 2*first {
				t.Errorf("%v and %v differ by %v", first, second, *row.Values[1].Relative)
			}
		}
	}
	if !found {
		t.Errorf("no latency in %+v", c.Rows)
	}
	var out bytes.Buffer
	must(t, c.Print(&out))
	for _, want := range []string{"one", "two", "goodput", "PASS", "%"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}

	// Variants are matched by name; what one result lacks is empty.
	both := results.Summarize([]*results.Variant{run(t, "fast", 1), run(t, "other", 1)})
	c = Compare([]string{"a", "b"}, []*results.Summary{both, b})
	for _, row := range c.Rows {
		if row.Variant == "other" && (row.Values[1].Value != nil || row.Values[1].Text != "") {
			t.Errorf("%+v", row)
		}
	}
}

func TestTicksAreRoundNumbers(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{{0, 100, "0 20 40 60 80 100"}, {0, 0.37, "0 0.1 0.2 0.3"}, {-3, 3, "-3 -2 -1 0 1 2 3"},
		{1234, 5678, "2000 3000 4000 5000"}, {5, 5, "5.00"}} {
		var got []string
		for _, tick := range (ticks{}).Ticks(c.low, c.high) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v to %v: %v, want %s", c.low, c.high, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 1.234: "1.23", 123.45: "123.5", 99999: "99999", 0.0123: "0.0123",
		12345678: "1.235e+07", -2: "-2.00"} {
		if got := number(x); got != want {
			t.Errorf("%v prints as %s, want %s", x, got, want)
		}
	}
}
