package metric

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/capture/results"
	"sirdbed/topo/units"
)

// kept is what a point keeps of a run, as a variant: without messages, samples, and what
// single ports and hosts have.
func kept(t *testing.T, v *results.Variant) *results.Variant {
	t.Helper()
	text, err := json.Marshal(results.Summarize([]*results.Variant{v}).Variants[0])
	if err != nil {
		t.Fatal(err)
	}
	s := results.VariantSummary{}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	s.QueueBytes.Ports = nil
	k, err := results.Kept(&s, v.Experiment, nil, results.Curves{})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Each figure of what was kept is that of the run, or an error that says that points do not
// have it, and what to do: never 0 for want of data.
func TestMetricsOfWhatIsKept(t *testing.T) {
	v := analyze(t, fakerun.Busy(t))
	k := kept(t, v)
	from, to := new(3*ms), new(3*ms+50*us)
	for _, c := range []struct {
		m    Metric
		want string // of the error; "": it has the figure
	}{
		{Metric{Name: "goodput_gbps"}, ""},
		{Metric{Name: "goodput_gbps", Host: "h2-1"}, ""},
		{Metric{Name: "goodput_gbps", Host: "h2-1", From: from, To: to}, "leave out from and to"},
		{Metric{Name: "offered_gbps"}, ""},
		{Metric{Name: "delivered_gbps", Stream: "rpc"}, ""},
		{Metric{Name: "latency_us", Stream: "rpc", Stat: "p50"}, ""},
		{Metric{Name: "slowdown", Group: "A", Stat: "p99"}, ""},
		{Metric{Name: "queue_bytes"}, ""},
		{Metric{Name: "queue_bytes", Switch: "leaf", Stat: "mean"}, ""},
		{Metric{Name: "queue_bytes", Switch: "leaf1", Stat: "p99.9"}, ""},
		{Metric{Name: "queue_bytes", Host: "h1-2"}, "ask for switches"},
		{Metric{Name: "queue_bytes", Port: "downlinks", Stat: "mean"}, "ask for switches"},
		{Metric{Name: "queue_bytes", Port: v.Fabric.Ports[4].Name}, "queues of single ports"},
		{Metric{Name: "gauge_mean", Gauge: "credit"}, ""},
		{Metric{Name: "gauge_mean", Gauge: "credit", Hosts: []string{"h2-2"}}, "leave out host, hosts, from and to"},
		{Metric{Name: "gauge_mean", Gauge: "credit", From: from, To: to}, "leave out host, hosts, from and to"},
		{Metric{Name: "gauge_sum", Gauge: "credit"}, "ask for gauge_mean"},
		{Metric{Name: "share", Host: "h1-2"}, "ask for goodput_gbps of the host"},
		{Metric{Name: "messages", Stat: "measured"}, ""},
		{Metric{Name: "counter", Counter: "resends"}, ""},
		{Metric{Name: "counter", Counter: "resends", Host: "h2-1"}, "leave out host and hosts"},
		{Metric{Name: "drops"}, "counts of ports: run the experiment with sirdbed run"},
		{Metric{Name: "marks", Port: "uplinks"}, "counts of single ports"},
	} {
		got, err := c.m.Eval(k)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), "points do not keep") {
				t.Errorf("%+v = %v, %v: want an error with %q", c.m, got, err, c.want)
			}
			continue
		}
		want, wantErr := c.m.Eval(v)
		if err != nil || wantErr != nil || math.Abs(got-want) > 1e-6*math.Abs(want) {
			t.Errorf("%+v = %v (%v), want %v (%v)", c.m, got, err, want, wantErr)
		}
	}
	_, err := Metric{Name: "gauge_mean", Gauge: "debit"}.Eval(k)
	if err == nil || !strings.Contains(err.Error(), "use one of credit, payload_received") {
		t.Errorf("a gauge that is not there: %v", err)
	}
}

// No metric panics, whatever of a point's it is asked for.
func TestNoMetricOfWhatIsKeptPanics(t *testing.T) {
	k := kept(t, analyze(t, fakerun.Busy(t)))
	from := new(units.Time(0))
	for _, d := range Descriptors() {
		for _, stat := range append(slices.Clone(d.Stats), "") {
			for _, m := range []Metric{
				{}, {Host: "h1-1"}, {Hosts: []string{"h1-1", "h2-1"}}, {From: from}, {Port: "core"}, {Switch: "spine"},
			} {
				m.Name, m.Stat, m.Gauge, m.Counter = d.Name, stat, "credit", "resends"
				if x, err := m.Eval(k); err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
					t.Errorf("%+v = %v", m, x)
				}
			}
		}
	}
}
