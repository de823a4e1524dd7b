package points

import (
	"strings"
	"testing"

	"sirdbed/capture/results"
)

func TestUnstableIsWhatGrowsAndIsNotCarried(t *testing.T) {
	for _, c := range []struct {
		name     string
		grows    bool
		received []float64 // in parts of 10, of 100 offered in each; the first two are warm-up
		want     string
	}{
		{"carried", false, []float64{50, 90, 100, 99}, ""},
		{"slow, and not growing", false, []float64{50, 50, 50, 50}, ""},
		{"growing by chance", true, []float64{0, 0, 100, 91}, ""},
		{"not carried", true, []float64{100, 100, 90, 90}, "it grew; 90 % of what was offered"},
		{"no course", true, nil, "it grew"},
	} {
		p := &Point{}
		p.Experiment.Warmup, p.Experiment.Duration = 20, 20
		p.Result.Unstable = c.grows
		if c.grows {
			p.Result.UnstableReasons = []string{"it grew"}
		}
		if c.received != nil {
			p.Course = &results.Course{Slice: 10, Offered: []float64{100, 100, 100, 100}, Received: c.received}
		}
		if got := p.NotCarried(); got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A point that is kept without its course and reasons, as a sweep's row is, is unstable by the
// same rule.
func TestUnstableWithoutACourse(t *testing.T) {
	for _, c := range []struct {
		unstable          bool
		offered, received float64
		want              string
	}{
		{false, 50, 40, ""}, {true, 50, 48, ""},
		{true, 50, 45, "what is undelivered grows; 90 % of what was offered in the window was received in it"},
		{true, 0, 0, "what is undelivered grows"},
	} {
		p := &Point{Result: results.VariantSummary{
			Unstable: c.unstable, OfferedGbps: c.offered, GoodputGbps: c.received,
		}}
		if got := p.NotCarried(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// A point that was ended since a queue grew has not carried what was offered, however short its
// course is.
func TestUnstableIsWhatWasEndedEarly(t *testing.T) {
	p := &Point{Unbounded: "it grew", Result: results.VariantSummary{OfferedGbps: 50, GoodputGbps: 50}}
	if got := p.NotCarried(); got != "it grew" {
		t.Errorf("got %q", got)
	}
}

// A point that was ended in its warm-up has no window: what it carried then counts.
func TestGoodputOfAPointEndedInItsWarmUp(t *testing.T) {
	p := &Point{}
	p.Experiment.Topology.Leaves, p.Experiment.Topology.HostsPerLeaf = 1, 2
	received := []float64{100, 900, 400, 400, 500, 500, 90, 0, 0} // ended in the seventh part
	p.Course = &results.Course{Slice: 10, Received: received}
	if got := p.Goodput(); got != 0 {
		t.Errorf("not ended early: %v", got)
	}
	p.Unbounded = "it grew"
	if got, want := p.Goodput(), 8*450/10/2.; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	p.Course.QueueMax, p.Course.QueueMean = []float64{1, 2, 3, 4, 5, 9, 8, 0, 0}, []float64{9, 9, 1, 2, 3, 4, 9, 0, 0}
	if q := p.Leaves(); q.Max != 9 || q.Mean != 2.5 {
		t.Errorf("queues %+v, want the deepest, and the mean of the same parts", q)
	}
	p.Result.GoodputGbps = 12
	if got := p.Goodput(); got != 12 {
		t.Errorf("with a window: %v", got)
	}
	p.Result.GoodputGbps, p.Course.Received = 0, []float64{50}
	if got := p.Goodput(); got != 0 {
		t.Errorf("without a whole part: %v", got)
	}
}
