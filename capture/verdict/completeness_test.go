package verdict

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/capture/results"
	"sirdbed/sirdnode/record"
)

// A log that was cut costs what it held; a message whose offer it held is no
// integrity error.
func TestCutLogsAreReadUpToTheirCut(t *testing.T) {
	r := fakerun.New(t, fakerun.OneWay)
	r.Message(0, 1, 0, 0, 1000, 2*ms, 2*ms+9*us)
	r.Log(1, record.Delivered, 2, 0, 0, 3*ms, 1000) // h2-1's log lost the offer
	r.Cut["h2-1"] = true
	dir := r.Write(t)
	v, err := analyze(t, dir, results.Options{Framing: fakerun.Framing})
	must(t, err)
	if len(v.ProblemsOf(results.HostLogCut)) != 1 || len(v.ProblemsOf(results.Integrity)) != 0 ||
		v.Latencies.Latency.Count != 1 {
		t.Errorf("problems %v, %d latencies", v.Problems, v.Latencies.Latency.Count)
	}
	if v.Verdict.Level != results.Invalid {
		t.Errorf("verdict %s", v.Verdict.Level)
	}

	// Whatever is cut off whichever log, what is left is read.
	for _, name := range []string{"hosts/h1-1.rec", "hosts/h1-2.rec", "queues.rec", "facts.json"} {
		whole, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		for _, n := range []int{0, 1, 17, 20, len(whole) / 2, len(whole) - 1} {
			must(t, os.WriteFile(filepath.Join(dir, name), whole[:min(n, len(whole))], 0o644))
			if _, err := analyze(t, dir, results.Options{Framing: fakerun.Framing}); err != nil {
				t.Errorf("%s cut to %d: %v", name, n, err)
			}
		}
		must(t, os.Remove(filepath.Join(dir, name)))
		if v, err := analyze(t, dir, results.Options{}); err != nil || v.Verdict.Level == results.Pass {
			t.Errorf("without %s: %v", name, err)
		}
		must(t, os.WriteFile(filepath.Join(dir, name), whole, 0o644))
	}
	must(t, os.WriteFile(filepath.Join(dir, "experiment.json"), []byte(`{"topology":`), 0o644))
	if _, err := analyze(t, dir, results.Options{}); err == nil || !strings.Contains(err.Error(), "experiment.json") {
		t.Errorf("a broken experiment.json: got %v, want an error that names it", err)
	}
}
