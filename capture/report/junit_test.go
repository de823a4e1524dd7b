package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"sirdbed/capture/results"
	"sirdbed/capture/stats"
)

// outcome is a run with everything that a file has to tell.
func outcome() Outcome {
	check := func(name string, level results.Level) results.Check {
		return results.Check{Name: name, Level: level, Found: "3 packets <lost>\x01", Limit: "0"}
	}
	return Outcome{
		Summary: &results.Summary{
			Scenario: "made|up", Engine: "real", Dilation: 560, Seed: 7, Verdict: results.Invalid,
			WallSeconds: 12345.6789, Reasons: []string{"a: link drops: 3 packets_lost"},
			Variants: []results.VariantSummary{
				{Variant: "a", Protocol: "sird", WallSeconds: 12345.5, Verdict: results.Invalid,
					Checks: []results.Check{
						check("run", results.Pass), check("lateness", results.Pass),
						check("stolen time", results.Degraded), check("link drops", results.Invalid),
					}},
				{Variant: "b", Protocol: "homa", Verdict: results.Invalid,
					Checks: []results.Check{check("run", results.Invalid)}},
			},
			Skipped: []results.Skipped{{Variant: "tcp", Protocol: "tcp-cubic", Reason: "the model has no kernel"}},
			Bounds: []results.Bound{
				{Name: "goodput", Value: 96.93, Min: new(95.0), Max: new(98.0), Unit: "Gbps", OK: true},
				{Name: "queue", Value: 200000.5, Max: new(108456.0), Unit: "B"},
				{Name: "ratio", Value: 1.2, Min: new(1.5)},
				{Name: "range", Value: 99, Min: new(95.0), Max: new(98.0), Unit: "Gbps"},
				{Name: "none", Error: "no stream of that name"},
			},
		},
		Failed: []Failure{{"b", "a host died"}, {"c", "never began"}},
	}
}

// read parses a JUnit file and checks what all its readers ask for: required
// attributes, times without exponents, counts that are those of the cases.
func read(t *testing.T, write func(io.Writer) error) (all junitSuites, cases map[string]junitCase) {
	t.Helper()
	var out bytes.Buffer
	must(t, write(&out))
	if !strings.HasPrefix(out.String(), "<?xml ") {
		t.Errorf("no XML declaration: %.40q", out.String())
	}
	for _, time := range regexp.MustCompile(`\stime="([^"]*)"`).FindAllStringSubmatch(out.String(), -1) {
		if !regexp.MustCompile(`^[0-9]+\.[0-9]{3}$`).MatchString(time[1]) {
			t.Errorf("time %q is no plain number", time[1])
		}
	}
	must(t, xml.Unmarshal(out.Bytes(), &all))
	var tests, failures, broken int
	cases = map[string]junitCase{}
	for _, s := range all.Suites {
		count := junitSuite{}
		for _, c := range s.Cases {
			if c.Name == "" || c.Class != s.Name {
				t.Errorf("a case %q of class %q in suite %q", c.Name, c.Class, s.Name)
			}
			if _, twice := cases[c.Class+"/"+c.Name]; twice {
				t.Errorf("two cases are called %s/%s", c.Class, c.Name)
			}
			cases[c.Class+"/"+c.Name] = c
			c.Class = s.Name
			count.add(c)
		}
		if s.Name == "" || s.Tests != count.Tests || s.Failures != count.Failures || s.Errors != count.Errors ||
			s.Skipped != count.Skipped {
			t.Errorf("suite %q counts %d %d %d %d, its cases %d %d %d %d", s.Name,
				s.Tests, s.Failures, s.Errors, s.Skipped, count.Tests, count.Failures, count.Errors, count.Skipped)
		}
		tests, failures, broken = tests+s.Tests, failures+s.Failures, broken+s.Errors
	}
	if all.Name == "" || all.Tests != tests || all.Failures != failures || all.Errors != broken {
		t.Errorf("%q counts %d %d %d, its suites %d %d %d", all.Name, all.Tests, all.Failures, all.Errors, tests,
			failures, broken)
	}
	return all, cases
}

func TestJUnitOfARun(t *testing.T) {
	all, cases := read(t, outcome().JUnit)
	if all.Tests != 12 || all.Failures != 5 || all.Errors != 2 {
		t.Errorf("got %d tests, %d failures, %d errors, want 12, 5, 2", all.Tests, all.Failures, all.Errors)
	}
	for _, c := range []struct{ name, want string }{
		{"made|up.a/run", "passes"},
		{"made|up.a/lateness", "passes"},
		{"made|up.a/stolen time", "out DEGRADED: 3 packets <lost>\ufffd; limit: 0"},
		{"made|up.a/link drops", "failure INVALID 3 packets <lost>\ufffd; limit: 0"},
		{"made|up.b/run", "error failed a host died"},
		{"made|up.c/run", "error failed never began"},
		{"made|up.tcp/run", "skipped  the model has no kernel"},
		{"made|up.bounds/goodput", "passes"},
		{"made|up.bounds/queue", "failure bound got 200000 B, want at most 108456 B"},
		{"made|up.bounds/ratio", "failure bound got 1.20, want at least 1.50"},
		{"made|up.bounds/range", "failure bound got 99.00 Gbps, want 95.00 to 98.00 Gbps"},
		{"made|up.bounds/none", "failure no value no stream of that name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := said(cases[c.name]); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if text := cases["made|up.bounds/queue"].Failure.Text; !strings.Contains(text, "200000.5") {
		t.Errorf("got the value %q, want all its digits", text)
	}
	if err := outcome().JUnit(failing{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v from a writer that fails, want its error", err)
	}
}

// said is what a case came to.
func said(c junitCase) string {
	for _, r := range []struct {
		kind string
		*junitResult
	}{{"failure", c.Failure}, {"error", c.Error}, {"skipped", c.Skipped}} {
		if r.junitResult != nil {
			return r.kind + " " + r.Type + " " + r.Message
		}
	}
	switch {
	case c.Name == "":
		return "is not there"
	case c.Out != "":
		return "out " + c.Out
	}
	return "passes"
}

// compared are two results: goodput differs by 10 %, latencies have few samples,
// the second has a stream more.
func compared(within *float64) *Comparison {
	summary := func(gbps, p50 float64, streams ...string) *results.Summary {
		v := results.VariantSummary{Variant: "v", Engine: "model", Verdict: results.Pass, GoodputGbps: gbps}
		for _, name := range streams {
			v.Streams = append(v.Streams, results.Stream{Name: name, LatencyNS: stats.Summary{Count: 5,
				Few: name == "few", P50: p50, P99: p50}})
		}
		return &results.Summary{Scenario: "s", Variants: []results.VariantSummary{v}}
	}
	c := Compare([]string{"x/one", "x/two"}, []*results.Summary{
		summary(10, 1000, "few"), summary(11, 2000, "few", "more"),
	})
	c.Within = within
	return c
}

func TestJUnitOfAComparison(t *testing.T) {
	_, cases := read(t, compared(nil).JUnit)
	if len(cases) != 0 {
		t.Errorf("got %d cases without a limit, a check or a bound, want none", len(cases))
	}
	for _, c := range []struct {
		within     float64
		name, want string
		beyond     int
	}{
		{0.05, "v: goodput, Gbps per host", "failure differs got 11.00, want 10.00 within 5 %", 1},
		{0.1 + 1e-9, "v: goodput, Gbps per host", "passes", 0},
		{0.05, "v: latency of few p50, us", "skipped  fewer than 100 samples", 1},
		{0.05, "v: latency of more p50, us", "failure missing got 2.00, want - within 5 %", 1},
		{0, "v: queue max, KB", "passes", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			comparison := compared(&c.within)
			_, cases := read(t, comparison.JUnit)
			if got := said(cases["two.against.one/"+c.name]); got != c.want {
				t.Errorf("within %v: got %q, want %q", c.within, got, c.want)
			}
			if got, want := comparison.Count(), (Count{Limited: 4, Beyond: c.beyond, Missing: 2}); got != want {
				t.Errorf("within %v: got %+v, want %+v", c.within, got, want)
			}
		})
	}
}
