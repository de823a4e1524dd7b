package metric

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"sirdbed/capture/internal/fakerun"
)

// The fields of a Metric are those of the table of fields, and in its order.
func TestFieldsAreThoseOfAMetric(t *testing.T) {
	want := []string{"metric"}
	for _, f := range Fields {
		want = append(want, f.Name)
	}
	var got []string
	for f := range reflect.TypeFor[Metric]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		got = append(got, name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("a Metric has %v, the table %v", got, want)
	}
}

func TestDescriptorsAreWhole(t *testing.T) {
	for _, d := range Descriptors() {
		t.Run(d.Name, func(t *testing.T) {
			if d.eval == nil || !strings.HasSuffix(d.Doc, ".") {
				t.Errorf("it has no function, or its text is no sentence: %q", d.Doc)
			}
			for _, f := range d.Fields {
				if _, ok := FindField(f); !ok || f == statField {
					t.Errorf("there is no field %q, or it is not to be listed", f)
				}
			}
			for _, f := range append(slices.Clone(d.Needs), d.Either...) {
				if !d.Takes(f) {
					t.Errorf("it speaks of %q, which it does not take", f)
				}
			}
			if d.Default != "" && !slices.Contains(d.Stats, d.Default) {
				t.Errorf("it has no statistic %q to be the default", d.Default)
			}
			page := strings.Join(d.Page(), "\n")
			for _, want := range append(slices.Clone(d.Fields), d.Stats...) {
				if !strings.Contains(page, want) {
					t.Errorf("its page has no %q:\n%s", want, page)
				}
			}
		})
	}
}

// Every statistic that the table promises can be had.
func TestEveryStatisticIsEvaluated(t *testing.T) {
	v := analyze(t, fakerun.Busy(t))
	for _, d := range Descriptors() {
		if d.Name == "exact_queue_bytes" {
			continue // it takes a capture
		}
		for _, stat := range d.Stats {
			m := Metric{Name: d.Name, Stat: stat}
			if slices.Contains(d.Needs, "gauge") {
				m.Gauge = "credit"
			}
			if _, err := m.Eval(v); err != nil {
				t.Errorf("%s, stat %s: %v", d.Name, stat, err)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		m     Metric
		given string // fields
		want  string
	}{
		{"nothing but its name", Metric{Name: "goodput_gbps"}, "", ""},
		{"what it takes", Metric{Name: "latency_us", Stat: "p50"}, "stat stream", ""},
		{"a default statistic", Metric{Name: "queue_bytes"}, "port", ""},
		{"one of the needed", Metric{Name: "exact_queue_bytes", Stat: "mean"}, "stat host", ""},
		{"unknown", Metric{Name: "x"}, "", `metric: no metric is called "x": use one of goodput_gbps`},
		{"misspelled", Metric{Name: "slowdown", Stat: "P99"}, "stat",
			`stat: slowdown has no statistic "P99": use one of p50`},
		{"no statistics", Metric{Name: "share", Stat: "max"}, "host stat", "stat: stat does not apply to share"},
		{"a field too many", Metric{Name: "drops"}, "host", "host: host does not apply to drops, which takes port"},
		{"a value", Metric{Name: "slowdown", Group: "F"}, "group", `group: no group is called "F": use one of all, A`},
		{"too little", Metric{Name: "counter"}, "host", "counter: missing: counter needs counter"},
		{"too much", Metric{Name: "queue_bytes"}, "port switch", "switch: given beside port"},
		{"which", Metric{Name: "messages"}, "", "stat: missing: messages needs one of offered"},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := strings.Fields(c.given)
			err := c.m.Check(func(field string) bool { return slices.Contains(given, field) })
			switch {
			case err == nil && c.want != "":
				t.Errorf("no error, want %s", c.want)
			case err != nil && (c.want == "" || !strings.HasPrefix(err.Error(), c.want)):
				t.Errorf("got %s, want %s", err, c.want)
			}
		})
	}
}
