package scenarios

import (
	"strings"
	"testing"

	"sirdbed/capture/results"
	"sirdbed/capture/stats"
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
		result("low-sird", "sird", 11), result("low-homa", "homa", 12), result("high-sird", "sird", 10), result("high-homa", "homa", 20),
	}
	want := []results.Bound{{Name: "order", Value: 0.55, OK: true}, {Name: "most", Value: 20}, {Name: "less", Value: -1}}
	got := Evaluate(s.Bounds, EngineModel, variants)
	if len(got) != len(want) {
		t.Fatalf("%+v: want 3, the variant alone was not run", got)
	}
	for i, b := range got {
		if b.Name != want[i].Name || b.Value != want[i].Value || b.OK != want[i].OK || b.Error != "" {
			t.Errorf("%+v, want %+v", b, want[i])
		}
	}
	if got := Evaluate(s.Bounds, EngineModel, variants[:1]); len(got) != 0 {
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
		t.Errorf("the scenario's load became %v", s.Traffic[0].Load)
	}
}

func TestBoundsAndLoadsThatCannotBe(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"protocol: homa, max: 19", "protocol: homma, max: 19", `f.yaml:9:48: no variant runs "homma": did you mean "homa"?`},
		{"protocol: homa, max: 19", "protocol: dctcp, max: 19", `f.yaml:9:48: no variant runs "dctcp": there are sird, homa, xpass`},
		{"minus: {protocol: sird}", "minus: {protocol: sird, variant: low-sird}", "f.yaml:10:76: given beside variant: want one of the two"},
		{"load: 0.25", "load: 1.25", "125 Gbps"},
		{"sizes: wka, load: 0.5", "sizes: wka, rate: 1Gbps", "f.yaml:5:30: none of the variant's streams states a load that this one could replace"},
	} {
		_, err := Parse("f.yaml", ".", []byte(strings.Replace(protocolBounds, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", c.new, err, c.want)
		}
	}
}
