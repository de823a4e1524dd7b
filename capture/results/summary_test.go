package results

import (
	"encoding/json"
	"testing"

	"sirdbed/capture/internal/fakerun"
)

// summary.json has the fields that its readers rely on.
func TestSummaryFields(t *testing.T) {
	s := Summarize([]*Variant{analyze(t, fakerun.Busy(t))})
	data, err := json.Marshal(s)
	must(t, err)
	var m map[string]any
	must(t, json.Unmarshal(data, &m))
	for _, field := range []string{"scenario", "engine", "dilation", "seed", "verdict", "reasons", "digest", "bounds",
		"variants", "wall_seconds", "nominal_seconds"} {
		if _, ok := m[field]; !ok {
			t.Errorf("no %s", field)
		}
	}
	v := m["variants"].([]any)[0].(map[string]any)
	for _, field := range []string{"variant", "protocol", "goodput_gbps", "slowdown", "latency_ns", "queue_bytes",
		"wall_seconds", "nominal_seconds"} {
		if _, ok := v[field]; !ok {
			t.Errorf("no %s of a variant", field)
		}
	}
	all := v["slowdown"].(map[string]any)["paper"].(map[string]any)["all"].(map[string]any)
	for _, field := range []string{"p50", "p99", "count"} {
		if _, ok := all[field]; !ok {
			t.Errorf("no %s of a slowdown", field)
		}
	}
	ports := v["queue_bytes"].(map[string]any)["ports"].(map[string]any)
	if got := ports["leaf1>h1-2"].(map[string]any)["max"]; got != 9900.0 {
		t.Errorf("the queue of leaf1>h1-2 is %v deep", got)
	}
	if s.Bounds == nil || s.Variants[0].WindowFrom != int64(ms) {
		t.Errorf("bounds %v, window from %v", s.Bounds, s.Variants[0].WindowFrom)
	}
}

func TestARunThatWasNotJudgedIsInvalid(t *testing.T) {
	s := Summarize([]*Variant{analyze(t, fakerun.New(t, fakerun.OneWay))})
	if s.Verdict != Invalid || len(s.Reasons) != 1 {
		t.Errorf("%s %v, want INVALID and a reason", s.Verdict, s.Reasons)
	}
}
