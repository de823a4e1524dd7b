package scenarios

import (
	"strings"
	"testing"

	"sirdbed/capture/metric"
	"sirdbed/capture/results"
	"sirdbed/capture/stats"
	"sirdbed/emu"
)

// result is a variant whose p99 latency is some us.
func result(name, protocol string, us float64) *results.Variant {
	s := stats.Summary{Count: 1000, P99: 1000 * us}
	return &results.Variant{Name: name, Protocol: protocol, Latencies: results.Latencies{Latency: s}}
}

// protocolBounds compares protocols at their worst.
const protocolBounds = `protocols: [sird, homa]
traffic: [{name: all, pattern: poisson, sizes: wka, load: 0.5}]
name: x
topology: {leaves: 1, hosts_per_leaf: 2, host_rate: 100Gbps, host_delay: 2us}
variants: [{name: low, load: 0.25}, {name: high}, {name: alone, protocol: xpass}]
duration: 1ms
bounds:
  - {name: order, metric: latency_us, protocol: sird, over: {protocol: homa}, max: 0.6}
  - {name: most, metric: latency_us, protocol: homa, max: 19}
  - {name: less, metric: latency_us, variant: high-sird, minus: {protocol: sird}, min: 0}
  - {name: alone, metric: latency_us, variant: alone, over: {protocol: homa}, min: 1}
`

func TestBoundsOfProtocols(t *testing.T) {
	s, err := Parse("f.yaml", ".", []byte(protocolBounds))
	if err != nil {
		t.Fatal(err)
	}
	variants := []*results.Variant{
		result("low-sird", "sird", 11), result("low-homa", "homa", 12),
		result("high-sird", "sird", 10), result("high-homa", "homa", 20),
	}
	want := []results.Bound{{Name: "order", Value: 0.55, OK: true}, {Name: "most", Value: 20},
		{Name: "less", Value: -1}}
	got := Evaluate(s.Bounds, emu.Model, variants)
	if len(got) != len(want) {
		t.Fatalf("%+v: want 3, the variant alone was not run", got)
	}
	for i, b := range got {
		if b.Name != want[i].Name || b.Value != want[i].Value || b.OK != want[i].OK || b.Error != "" {
			t.Errorf("%+v, want %+v", b, want[i])
		}
	}
	if got := Evaluate(s.Bounds, emu.Model, variants[:1]); len(got) != 0 {
		t.Errorf("%+v of one protocol: want none, nothing to compare with was run", got)
	}
}

func TestVariantsHaveTheirOwnLoad(t *testing.T) {
	s, err := Parse("f.yaml", ".", []byte(protocolBounds))
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Experiments(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.25, 0.25, 0.5, 0.5, 0.5} {
		if x := list[i]; x.Streams[0].Load != want {
			t.Errorf("%s: load %v, want %v", x.Variant, x.Streams[0].Load, want)
		}
	}
	if s.Traffic[0].Load != 0.5 {
		t.Errorf("the scenario's load became %v, want 0.5", s.Traffic[0].Load)
	}
}

func TestBoundsAndLoadsThatCannotBe(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"protocol: homa, max: 19", "protocol: homma, max: 19",
			`f.yaml:9:48: no variant runs "homma": did you mean "homa"?`},
		{"protocol: homa, max: 19", "protocol: dctcp, max: 19",
			`f.yaml:9:48: no variant runs "dctcp": there are sird, homa, xpass`},
		{"minus: {protocol: sird}", "minus: {protocol: sird, variant: low-sird}",
			"f.yaml:10:76: given beside variant: want one of the two"},
		{"load: 0.25", "load: 1.25", "125 Gbps"},
		{"sizes: wka, load: 0.5", "sizes: wka, rate: 1Gbps",
			"f.yaml:5:30: none of the variant's streams states a load that this one could replace"},
	} {
		t.Run(c.new, func(t *testing.T) {
			_, err := Parse("f.yaml", ".", []byte(strings.Replace(protocolBounds, c.old, c.new, 1)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// What a metric does not have is an error before anything runs, at its place in the
// file and with what there is instead.
func TestMetricsThatCannotBe(t *testing.T) {
	for _, c := range []struct{ name, bound, want string }{
		{
			"unknown metric", "metric: latency, max: 1",
			`f.yaml:15:23: no metric is called "latency": use one of ` + strings.Join(metric.Names(), ", "),
		},
		{
			"misspelled statistic", "metric: latency_us, stat: p9.99, max: 1",
			`f.yaml:15:41: latency_us has no statistic "p9.99": use one of p50, p90, p99, p99.9, mean, max, min, ` +
				`count: did you mean "p99.9"?`,
		},
		{
			"statistic of something else", "metric: queue_bytes, stat: p50, max: 1",
			`f.yaml:15:42: queue_bytes has no statistic "p50": use one of max, mean, p99, p99.9`,
		},
		{
			"statistic of a single figure", "metric: goodput_gbps, stat: mean, max: 1",
			`f.yaml:15:43: stat does not apply to goodput_gbps, which takes host, hosts, from, to`,
		},
		{
			"no statistic", "metric: messages, max: 1",
			`f.yaml:15:5: bounds[0].stat: missing: messages needs one of offered, measured, unfinished, ` +
				`failed, warmup, too_late`,
		},
		{
			"stream", "metric: queue_bytes, stream: all, max: 1",
			`f.yaml:15:44: stream does not apply to queue_bytes, which takes host, port, switch, stat`,
		},
		{
			"zero is stated too", "metric: queue_bytes, from: 0, max: 1",
			`f.yaml:15:42: from does not apply to queue_bytes, which takes host, port, switch, stat`,
		},
		{
			"queue of a host", `metric: queue_bytes, port: "h1-1>leaf1", max: 1`,
			`f.yaml:15:42: queues of hosts are not sampled: use a switch's port, or exact_queue_bytes and the ` +
				`capture of a host`,
		},
		{
			"queues of hosts", "metric: queue_bytes, port: uplinks, max: 1",
			`f.yaml:15:42: queues of hosts are not sampled: use a switch's port, or exact_queue_bytes and the ` +
				`capture of a host`,
		},
		{
			"hosts", "metric: latency_us, hosts: [h1-1], max: 1",
			`f.yaml:15:35: hosts does not apply to latency_us, which takes stream, stat`,
		},
		{
			"nothing applies", "metric: unstable, port: core, max: 1",
			`f.yaml:15:39: port does not apply to unstable, which takes no other field`,
		},
		{
			"two places", "metric: queue_bytes, host: h1-1, port: core, max: 1",
			`f.yaml:15:54: given beside host: want one of the two`,
		},
		{
			"no gauge", "metric: gauge_mean, max: 1",
			`f.yaml:15:5: bounds[0].gauge: missing: gauge_mean needs gauge`,
		},
		{
			"no port", "metric: exact_queue_bytes, max: 1",
			`f.yaml:15:5: bounds[0].host: missing: exact_queue_bytes needs host or port`,
		},
		{
			"group", "metric: slowdown, group: E, max: 1",
			`f.yaml:15:40: no group is called "E": use one of all, A, B, C, D`,
		},
		{
			"definition", "metric: slowdown, definition: papers, max: 1",
			`f.yaml:15:45: no definition is called "papers": use one of paper, exact, acked: did you mean "paper"?`,
		},
		{
			"statistic of a reference", "metric: latency_us, minus: {stat: p9}, max: 1",
			`f.yaml:15:49: latency_us has no statistic "p9": use one of p50, p90, p99, p99.9, mean, max, min, ` +
				`count: did you mean "p90"?`,
		},
		{
			"field of a reference", "metric: latency_us, minus: {host: h1-1}, max: 1",
			`f.yaml:15:49: host does not apply to latency_us, which takes stream, stat`,
		},
		{
			"field of a reference's own metric",
			"metric: latency_us, stat: p50, over: {metric: offered_gbps, stat: p50}, max: 1",
			`f.yaml:15:81: stat does not apply to offered_gbps, which takes no other field`,
		},
		{
			"place of a reference beside the bound's", "metric: queue_bytes, host: h1-1, over: {port: core}, max: 1",
			`f.yaml:15:61: given beside host: want one of the two`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := good[:strings.Index(good, "duration")] + "bounds:\n  - {name: x, " + c.bound + "}\nduration: 1ms\n"
			_, err := Parse("f.yaml", ".", []byte(text))
			if err == nil {
				t.Fatal("no error")
			}
			if got, _, _ := strings.Cut(err.Error(), "\n"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A bound is checked on its engines, of each variant, and against limits that
// it may meet exactly. What has no value is not met, and has the reason.
func TestEvaluate(t *testing.T) {
	us := func(x float64) *float64 { return &x }
	latency := metric.Metric{Name: "latency_us"}
	one, two := result("one", "sird", 10), result("two", "homa", 20)
	idle := result("idle", "sird", 0)
	for _, c := range []struct {
		name     string
		bound    Bound
		variants []*results.Variant
		want     []results.Bound // without limits
	}{
		{"at its limits", Bound{Name: "b", Metric: latency, Min: us(10), Max: us(10)}, []*results.Variant{one},
			[]results.Bound{{Name: "b", Value: 10, Unit: "us", OK: true}}},
		{"below", Bound{Name: "b", Metric: latency, Min: us(10.5)}, []*results.Variant{one},
			[]results.Bound{{Name: "b", Value: 10, Unit: "us"}}},
		{"of each variant", Bound{Name: "b", Metric: latency, Max: us(15)}, []*results.Variant{one, two},
			[]results.Bound{{Name: "b (one)", Value: 10, Unit: "us", OK: true},
				{Name: "b (two)", Value: 20, Unit: "us"}}},
		{"of one of them", Bound{Name: "b", Metric: latency, Variant: "two", Max: us(20)},
			[]*results.Variant{one, two}, []results.Bound{{Name: "b", Value: 20, Unit: "us", OK: true}}},
		{"of another engine", Bound{Name: "b", Metric: latency, Engines: []emu.EngineName{emu.Real}, Max: us(1)},
			[]*results.Variant{one}, nil},
		{"of this engine too", Bound{Name: "b", Metric: latency, Engines: []emu.EngineName{emu.Real, emu.Model},
			Max: us(1)}, []*results.Variant{one}, []results.Bound{{Name: "b", Value: 10, Unit: "us"}}},
		{"of a variant that was not run", Bound{Name: "b", Metric: latency, Variant: "three", Max: us(1)},
			[]*results.Variant{one}, nil},
		{"in a unit of its own", Bound{Name: "b", Metric: latency, Unit: "RTT", Per: 5, Max: us(2)},
			[]*results.Variant{one}, []results.Bound{{Name: "b", Value: 2, Unit: "RTT", OK: true}}},
		{"a ratio", Bound{Name: "b", Metric: latency, Variant: "two", Over: &Reference{Variant: "one"}, Max: us(2)},
			[]*results.Variant{one, two}, []results.Bound{{Name: "b", Value: 2, Unit: "x", OK: true}}},
		{"over nothing", Bound{Name: "b", Metric: latency, Variant: "one", Over: &Reference{Variant: "idle"},
			Min: us(0)}, []*results.Variant{one, idle},
			[]results.Bound{{Name: "b", Unit: "x", Error: "there is nothing to divide by"}}},
		{"without a value", Bound{Name: "b", Metric: metric.Metric{Name: "latency_us", Stream: "none"}, Max: us(1)},
			[]*results.Variant{one}, []results.Bound{{Name: "b", Unit: "us", Error: "none"}}},
		{"over what has no value", Bound{Name: "b", Metric: latency,
			Over: &Reference{Metric: metric.Metric{Name: "latency_us", Stream: "none"}}, Max: us(1)},
			[]*results.Variant{one}, []results.Bound{{Name: "b", Unit: "x", Error: "none"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Evaluate([]Bound{c.bound}, emu.Model, c.variants)
			if len(got) != len(c.want) {
				t.Fatalf("got %+v, want %d", got, len(c.want))
			}
			for i, want := range c.want {
				if b := got[i]; b.Name != want.Name || b.Value != want.Value || b.Unit != want.Unit ||
					b.OK != want.OK || (b.Error == "") != (want.Error == "") || !strings.Contains(b.Error, want.Error) {
					t.Errorf("got %+v, want %+v", b, want)
				}
			}
		})
	}
}
