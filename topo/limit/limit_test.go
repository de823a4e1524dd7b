package limit

import (
	"math"
	"reflect"
	"testing"

	"sirdbed/topo/units"
)

func TestReasons(t *testing.T) {
	rate := Number("rate", MinRate, MaxRate, "because")
	for _, c := range []struct {
		name  string
		limit Limit
		value any
		want  string
	}{
		{"least", rate, MinRate, ""},
		{"most", rate, MaxRate, ""},
		{"less", rate, units.Kbps, "rate is 1Kbps: want 1Mbps to 10Tbps: because"},
		{"more", rate, 11 * units.Tbps, "rate is 11Tbps: want 1Mbps to 10Tbps: because"},
		{"NaN", Number("load", 0, 1., "because"), math.NaN(), "load is NaN: want 0 to 1: because"},
		{"infinite", Number("load", 0, 1., "because"), math.Inf(1), "load is +Inf: want 0 to 1: because"},
		{"minus infinite", Number("b", 0, 1., "because").OrInfinite(), math.Inf(-1),
			"b is -Inf: want 0 to 1 or inf: because"},
		{"infinite where it may be", Number("b", 0, 1., "because").OrInfinite(), math.Inf(1), ""},
		{"unlimited", Number("size", 0, MaxMark, "because"), units.Unlimited,
			"size is inf: want 0B to 4.294967295GB: because"},
		{"unlimited where it may be", Number("size", 0, MaxMark, "because").OrInfinite(), units.Unlimited, ""},
		{"never", Number[units.Time]("stop", 0, MaxRun, "because"), units.Never,
			"stop is never: want 0ns to 10800s: because"},
		{"seed", Number[uint64]("seed", 1, MaxSeed, "because"), uint64(1<<53 + 1),
			"seed is 9007199254740993: want 1 to 9007199254740991: because"},
		{"text", Text("name", 1, 3, "because"), "abcd", "name has 4: want 1 to 3 characters: because"},
		{"characters, not bytes", Text("name", 1, 3, "because"), "äöü", ""},
		{"escape", Text("name", 1, 3, "because"), "a\x1b", "name has the character U+001B: want what can be printed"},
		{"line", Text("name", 1, 3, "because"), "a\n", "name has the character U+000A: want what can be printed"},
		{"lines", Prose("note", 3, "because"), "a\nb", ""},
		{"not UTF-8", Text("name", 1, 3, "because"), "\xff", "name has the character U+FFFD: want what can be printed"},
		{"item", Text("from[]", 1, 3, "because"), "", "an item of from has 0: want 1 to 3 characters: because"},
		{"list", List("from", 2, 2, "because"), []string{"a"}, "from has 1: want 2 items: because"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.limit.Reason(reflect.ValueOf(c.value)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Sums and products of what limits allow stay in 64 bits.
func TestNothingOverflowsAtTheLimits(t *testing.T) {
	positive := func(what string, x int64) {
		t.Helper()
		if x <= 0 || x == math.MaxInt64 {
			t.Errorf("%s is %d", what, x)
		}
	}
	positive("the largest message on the slowest link, in ps", MinRate.Picoseconds(MaxMessage))
	positive("what the fastest link carries in the longest run", int64(MaxRate.BytesIn(MaxRun)))
	positive("the longest run by the kernel's clock after 50 years", MaxKernelTime+50*366*24*int64(3600*units.Second))
	if most := float64(Stream.Of("stagger").Max)*(MaxHosts-1) + float64(MaxRun); most >= math.MaxInt64 {
		t.Errorf("the last receiver of an outcast joins at %g ns, want less than 2^63", most)
	}
	if most := Stream.Of("start").Max + ListRow.Of("time").Max; most >= math.MaxInt64/1000 {
		t.Errorf("a listed message arrives at %g ns, want less than 2^63 ps", most)
	}
	most := Scenario.Of("warmup").Max + Scenario.Of("duration").Max + Scenario.Of("drain").Max
	if most > float64(MaxRun) {
		t.Errorf("a run takes %g ns, want %d at most", most, int64(MaxRun))
	}
	if tags := Scenario.Of("traffic").Max * (1 << 24); tags > 1<<31 {
		t.Errorf("%g tags, want room for them in 31 bits", tags)
	}
}

// A number that JSON or a program makes of a table is the one in it.
func TestEndsAreExact(t *testing.T) {
	for _, table := range []Table{
		Scenario, Host, Variant, Sample, Topology, Link, Stream, ListRow, Faults, Reference, Bound,
	} {
		for _, l := range table {
			if math.Abs(l.Min) > 1<<53 && l.Min != -maxFigure || l.Max > 1<<53 && l.Max != maxFigure || l.Why == "" {
				t.Errorf("%+v: want ends of at most 2^53, and a reason", l)
			}
		}
	}
}
