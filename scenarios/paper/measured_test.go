package paper

import (
	"math"
	"strings"
	"testing"
)

func TestHostileMeasuredAreRefused(t *testing.T) {
	good := Cell{P99Slowdown, "balanced", "wka", "sird"}
	cell := func(c Cell, v Value) *Measured { return &Measured{Cells: map[Cell]Value{c: v}} }
	quantity := func(name string, v Value) *Measured { return &Measured{Quantities: map[string]Value{name: v}} }
	for _, tc := range []struct {
		name string
		m    *Measured
		want string // in the error
	}{
		{"NaN", cell(good, Value{Number: math.NaN()}), "finite"},
		{"infinite", cell(good, Value{Number: math.Inf(1)}), "finite"},
		{"negative", cell(good, Value{Number: -1}), "0 or more"},
		{"a seed is NaN", cell(good, Value{Number: 1, Seeds: []float64{1, math.NaN()}}), "finite"},
		{"a slowdown of 0", cell(good, Value{}), "no slowdown is 0"},
		{"an unstable goodput", cell(Cell{MaxGoodput, "core", "wka", "sird"}, Value{Unstable: true}), "never"},
		{"no table", cell(Cell{"p98", "core", "wka", "sird"}, Value{Number: 1}), "no table"},
		{"no configuration", cell(Cell{P99Slowdown, "Core", "wka", "sird"}, Value{Number: 1}), "no configuration"},
		{"no workload", cell(Cell{P99Slowdown, "core", "", "sird"}, Value{Number: 1}), "no workload"},
		{"no protocol", cell(Cell{P99Slowdown, "core", "wka", ""}, Value{Number: 1}), "protocol's name"},
		{"markup for a protocol", cell(Cell{P99Slowdown, "core", "wka", "<b>"}, Value{Number: 1}), "protocol's name"},
		{"a slash in a protocol", cell(Cell{P99Slowdown, "core", "wka", "a/b"}, Value{Number: 1}), "protocol's name"},
		{"an escape sequence", quantity("\x1b[2J", Value{Number: 1}), "PROTOCOL/CONFIG"},
		{"an empty name", quantity("", Value{Number: 1}), "PROTOCOL/CONFIG"},
		{"an unknown setting", quantity("sird/core/wka/loud=1/goodput_gbps", Value{Number: 1}), "no setting"},
		{"settings out of order", quantity("sird/core/wka/b=1bdp/load=1/goodput_gbps", Value{}), "in the order"},
		{"a setting twice", quantity("sird/core/wka/load=1/load=1/goodput_gbps", Value{}), "in the order"},
		{"a setting without value", quantity("sird/core/wka/load/goodput_gbps", Value{}), "not a value"},
		{"an unknown figure", quantity("sird/core/wka/load=0.5/speed", Value{Number: 1}), "no figure"},
		{"a quantity of NaN", quantity("sird/core/wka/load=0.5/goodput_gbps", Value{Number: math.NaN()}), "finite"},
		{"a cell as a quantity", quantity("sird/core/wka/max_tor_queue_mb", Value{Number: 1}), "a cell's"},
		{"a setting of the paper's", quantity("sird/core/wka/b=1.5bdp/max_tor_queue_mb", Value{}), "not spelt out"},
		{"defaults beside a setting", quantity("sird/core/wka/b=2bdp/defaults/goodput_gbps", Value{}), "defaults"},
		{"defaults before a setting", quantity("sird/core/wka/defaults/b=2bdp/goodput_gbps", Value{}), "defaults"},
		{"defaults before a load", quantity("sird/core/wka/defaults/load=0.5/goodput_gbps", Value{}), "defaults"},
		{"defaults twice", quantity("sird/core/wka/defaults/defaults/goodput_gbps", Value{}), "defaults"},
		{"defaults of the testbed", quantity("sird/testbed/incast/defaults/goodput_gbps", Value{}), "defaults"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.m.Check()
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want an error with %q", err, tc.want)
			}
			if strings.ContainsAny(err.Error(), "\x1b") {
				t.Errorf("the error has an escape sequence")
			}
			if _, err := Compare(tc.m); err == nil {
				t.Errorf("it is compared")
			}
			if _, err := Evaluate(tc.m); err == nil {
				t.Errorf("claims are checked with it")
			}
		})
	}
}

func TestEveryMistakeIsNamedInTheSameOrder(t *testing.T) {
	m := &Measured{
		Cells: map[Cell]Value{
			{"b", "core", "wka", "sird"}: {}, {"a", "core", "wka", "sird"}: {},
			{P99Slowdown, "core", "wka", "sird"}: {Number: -1},
		},
		Quantities: map[string]Value{"y": {}, "x": {}},
	}
	first := m.Check().Error()
	if n := strings.Count(first, "\n") + 1; n != 5 {
		t.Errorf("%d mistakes, want 5:\n%s", n, first)
	}
	for range 20 {
		if again := m.Check().Error(); again != first {
			t.Fatalf("first\n%s\nthen\n%s", first, again)
		}
	}
}

// A name that spells out the paper's own settings is of the run that others are compared with, one that spells out
// none of the tables' run.
func TestDefaultSettingsNeedNotBeNamed(t *testing.T) {
	m := &Measured{Quantities: map[string]Value{
		"sird/balanced/wkc/load=0.95/goodput_gbps":          {Number: 1},
		"sird/balanced/wkc/load=0.95/defaults/goodput_gbps": {Number: 2},
		"sird/balanced/wkc/load=0.95/b=4bdp/goodput_gbps":   {Number: 3},
		"sird/balanced/wkc/defaults/max_goodput_gbps":       {Number: 5},
	}, Cells: map[Cell]Value{{MaxGoodput, "balanced", "wkc", "sird"}: {Number: 4}}}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"sird/balanced/wkc/load=0.95/goodput_gbps":                    1,
		"sird/balanced/wkc/load=0.95/b=1.5bdp/goodput_gbps":           2,
		"sird/balanced/wkc/load=0.95/sthr=0.5bdp/goodput_gbps":        2,
		"sird/balanced/wkc/load=0.95/b=4bdp/goodput_gbps":             3,
		"sird/balanced/wkc/load=0.95/b=4bdp/sthr=0.5bdp/goodput_gbps": 3,
		"sird/balanced/wkc/max_goodput_gbps":                          4,
		"sird/balanced/wkc/b=1.5bdp/sthr=0.5bdp/max_goodput_gbps":     5,
		"sird/balanced/wkc/load=0.95/b=2bdp/goodput_gbps":             0,
		"sird/balanced/wka/load=0.95/goodput_gbps":                    0,
		"sird/balanced/wka/load=0.95/b=1.5bdp/goodput_gbps":           0,
		"sird/balanced/wka/b=1.5bdp/max_goodput_gbps":                 0,
	} {
		if got, ok := m.get(name); got.Number != want || ok != (want > 0) {
			t.Errorf("%s: got %v, %v; want %v", name, got.Number, ok, want)
		}
	}
}
