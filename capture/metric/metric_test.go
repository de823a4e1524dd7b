package metric

import (
	"math"
	"strings"
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/capture/results"
	"sirdbed/topo/units"
)

func TestMetrics(t *testing.T) {
	v := analyze(t, fakerun.Busy(t))
	for _, c := range []struct {
		m    Metric
		want float64
	}{
		{Metric{Name: "goodput_gbps"}, 16},
		{Metric{Name: "goodput_gbps", Host: "h2-1"}, 48},
		{Metric{Name: "goodput_gbps", Host: "h2-1", From: new(3 * ms), To: new(3*ms + 50*us)}, 48},
		{Metric{Name: "goodput_gbps", From: new(units.Time(0)), To: new(ms)}, 16},
		{Metric{Name: "goodput_gbps", Hosts: []string{"h1-2", "h2-1"}}, 64},
		{Metric{Name: "offered_gbps"}, 0.05},
		{Metric{Name: "delivered_gbps", Stream: "rpc"}, 0.2},
		{Metric{Name: "latency_us", Stream: "rpc", Stat: "p50"}, 100},
		{Metric{Name: "latency_us"}, 198},
		{Metric{Name: "latency_us", Stat: "count"}, 200},
		{Metric{Name: "slowdown", Stat: "p50"}, 100 / (2.5 + 0.08)},
		{Metric{Name: "slowdown", Group: "A", Definition: results.Exact, Stat: "min"},
			1000 / float64(v.Messages[0].UnloadedExact)},
		{Metric{Name: "queue_bytes"}, 9900},
		{Metric{Name: "queue_bytes", Host: "h1-2", Stat: "mean"}, 4950},
		{Metric{Name: "queue_bytes", Port: "downlinks", Stat: "mean"}, 4950.0 / 4},
		{Metric{Name: "queue_bytes", Port: "core"}, 0},
		{Metric{Name: "queue_bytes", Switch: "leaf1", Stat: "p99.9"}, 9900},
		{Metric{Name: "queue_bytes", Switch: "leaf", Stat: "mean"}, 4950.0 / 2},
		{Metric{Name: "gauge_mean", Gauge: "credit"}, 150},
		{Metric{Name: "gauge_mean", Gauge: "credit", Hosts: []string{"h2-2"}, From: new(3 * ms), To: new(4 * ms)}, 300},
		{Metric{Name: "gauge_sum", Gauge: "credit"}, 600},
		{Metric{Name: "gauge_sum", Gauge: "credit", Stat: "max", Hosts: []string{"h1-2", "h2-1"}}, 300},
		{Metric{Name: "share", Host: "h1-2", From: new(2 * ms), To: new(4 * ms)}, 0.25},
		{Metric{Name: "share", Host: "h1-2", Hosts: []string{"h1-2"}}, 1},
		{Metric{Name: "messages", Stat: "measured"}, 200},
		{Metric{Name: "counter", Counter: "resends"}, 6},
		{Metric{Name: "counter", Counter: "resends", Host: "h2-1"}, 2},
		{Metric{Name: "drops"}, 3},
		{Metric{Name: "marks", Port: v.Fabric.Ports[4].Name}, 5},
		{Metric{Name: "credit_drops", Port: "uplinks"}, 7},
	} {
		got, err := c.m.Eval(v)
		if err != nil || math.Abs(got-c.want) > 1e-6*math.Abs(c.want) {
			t.Errorf("%+v = %v, want %v (%v)", c.m, got, c.want, err)
		}
	}
}

// What is not there is answered with what is.
func TestMetricErrorsSayWhatExists(t *testing.T) {
	v := analyze(t, fakerun.Busy(t))
	for _, c := range []struct {
		m    Metric
		want []string
	}{
		{Metric{Name: "latency"}, []string{`"latency"`, "latency_us", "goodput_gbps"}},
		{Metric{Name: "latency_us", Stream: "rcp"}, []string{`"rcp"`, "rpc", `variant "v"`}},
		{Metric{Name: "latency_us", Stat: "p95"}, []string{`"p95"`, "p99.9"}},
		{Metric{Name: "slowdown", Group: "D"}, []string{`"D"`, "A, all"}},
		{Metric{Name: "goodput_gbps", Host: "h9-9"}, []string{"h9-9", "h1-1"}},
		{Metric{Name: "queue_bytes", Port: "leaf1>h9"}, []string{"leaf1>h9", "downlinks", "leaf1>h1-1"}},
		{Metric{Name: "queue_bytes", Switch: "tor"}, []string{"tor", "leaf", "spine1"}},
		{Metric{Name: "queue_bytes", Stat: "p50"}, []string{"p50", "p99.9"}},
		{Metric{Name: "gauge_mean", Gauge: "debit"}, []string{"debit", "credit, payload_received"}},
		{Metric{Name: "gauge_mean", Gauge: "credit", From: new(5 * ms), To: new(4 * ms)},
			[]string{"between 5ms and 4ms"}},
		{Metric{Name: "gauge_sum", Gauge: "credit", From: new(30 * ms), To: new(40 * ms)},
			[]string{"no samples", "gauge_every is 100us"}},
		{Metric{Name: "share"}, []string{"host is missing"}},
		{Metric{Name: "counter", Counter: "x"}, []string{"payload", "resends"}},
		{Metric{Name: "messages"}, []string{"stat", "too_late"}},
		{Metric{Name: "exact_queue_bytes", Host: "h1-1"}, []string{"captured port", "there is none"}},
		{Metric{Name: "unstable"}, []string{"poisson"}},
		{Metric{Name: "drops", Port: "x"}, []string{`"x"`, "h1-1>leaf1"}},
	} {
		_, err := c.m.Eval(v)
		if err == nil {
			t.Errorf("%+v: got no error, want one with %q", c.m, c.want)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %q has no %q", c.m, err, want)
			}
		}
	}
}

func TestGaugeSumsOfLateSamples(t *testing.T) {
	a := series(0, 1, 100, 2, 200, 3)
	b := series(5, 10, 100, 20, 230, 30)
	var values []float64
	for _, p := range sumSeries([]*results.Series{a, b}, 0, 1000) {
		values = append(values, p.Value)
	}
	want := []float64{11, 22, 23, 33}
	if len(values) != len(want) {
		t.Fatalf("%v, want %v", values, want)
	}
	for i := range want {
		if values[i] != want[i] {
			t.Errorf("%v, want %v", values, want)
		}
	}
	avg := series(0, 0, 10, 10, 20, 20, 30, 30).MovingAverage(20)
	if avg[3].Value != 25 || avg[0].Value != 0 {
		t.Errorf("moving average %v", avg)
	}
}

// series makes a series of pairs of a time and a value.
func series(pairs ...int) *results.Series {
	s := &results.Series{}
	for i := 0; i < len(pairs); i += 2 {
		s.Points = append(s.Points, results.GaugePoint{At: units.Time(pairs[i]), Value: float64(pairs[i+1])})
	}
	return s
}

// analyze writes a made-up run and computes its results.
func analyze(t *testing.T, r *fakerun.Run) *results.Variant {
	t.Helper()
	v, err := results.Analyze(fakerun.Open(t, r.Write(t)), results.Options{Framing: fakerun.Framing})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const (
	us = units.Microsecond
	ms = units.Millisecond
)
