//go:build linux && !portable

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sirdbed/capture/results"
	"sirdbed/capture/verdict"
	"sirdbed/emu"
	"sirdbed/emu/effort"
	"sirdbed/topo/units"
)

// resolutionScenario is in real time: rates that this machine carries, and messages that
// are short and long against its wake-ups.
const resolutionScenario = `name: resolution
topology: {leaves: 1, hosts_per_leaf: %d, host_rate: %s, host_delay: %s}
protocol: %s
traffic:
  - {name: mix, pattern: poisson, size: %s, load: %.2f}
warmup: 100ms
duration: 1s
drain: 200ms
dilation: 1
`

// The rule that ties lateness to the distance from the model, in
// capture/verdict/resolution.json, comes from here: each run in real time is compared
// with the model's of the same windows. SIRDBED_RESOLUTION says how many runs; the log
// has the file to put there. Without it two runs show that this works, and that the rule
// holds in them as it says.
func TestResolutionAgainstTheModel(t *testing.T) {
	runs := effort.Count(t, "SIRDBED_RESOLUTION", 2)
	b := build(t)
	r := rand.New(rand.NewPCG(effort.Seed(t, "SIRDBED_RESOLUTION_SEED"), 1))
	off := map[verdict.Quantity][]float64{}
	for i := range runs {
		x := resolutionOf(t, b, r)
		t.Logf("%d: %s", i, x.text)
		for q, n := range x.off {
			off[q] = append(off[q], n)
		}
	}
	found := map[verdict.Quantity]float64{}
	for q, list := range off {
		slices.Sort(list)
		at := int(math.Ceil(0.95*float64(len(list)))) - 1
		found[q] = math.Ceil(list[at]*1000) / 1000
		t.Logf("%s: median %.3f, 95 of 100 at most %.3f, at most %.3f", q, list[len(list)/2], list[at],
			list[len(list)-1])
	}
	text, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("off of %d runs: %s", runs, text)
}

// A resolutionRun is how far one run was from the model, in the units of the rule.
type resolutionRun struct {
	text string
	off  map[verdict.Quantity]float64
}

func resolutionOf(t *testing.T, b *program, r *rand.Rand) resolutionRun {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	rate, protocol := pick("100Mbps", "300Mbps", "1Gbps"), pick("sird", "homa", "dctcp")
	text := fmt.Sprintf(resolutionScenario, 3+r.IntN(4), rate, pick("1us", "20us", "50us"), protocol,
		pick("1KB", "20KB", "200KB"), 0.1+0.3*r.Float64())
	b.write("x.yaml", text)
	window := map[string]string{"sird": "sird.bdp", "homa": "homa.rtt_bytes"}[protocol]
	arguments := []string{"run", "x.yaml", "--out", "real"}
	if window != "" {
		arguments = append(arguments, "--set", window+"=measured")
	}
	defer os.RemoveAll(filepath.Join(b.dir, "real"))
	defer os.RemoveAll(filepath.Join(b.dir, "model"))
	if out, err := b.command(arguments...).CombinedOutput(); code(err) != exitFine && code(err) != exitInvalid {
		t.Fatalf("%v\n%s%s", err, text, out)
	}
	got, variants := b.result("real")
	facts := variants[0].Facts
	arguments = []string{"run", "x.yaml", "--engine", "model", "--out", "model"}
	if window != "" {
		arguments = append(arguments, "--set", fmt.Sprintf("%s=%dB", window, int64(facts.Loop.MeasuredBDP)))
	}
	if out, err := b.command(arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s%s", err, text, out)
	}
	want, _ := b.result("model")
	return compareResolution(facts, &got.Variants[0], &want.Variants[0], variants[0],
		fmt.Sprintf("%s %s", protocol, rate))
}

func compareResolution(f *emu.Facts, got, want *results.VariantSummary, v *results.Variant, name string) resolutionRun {
	late := f.Lateness.P99
	for i := range f.Hosts {
		late = max(late, f.Hosts[i].Lateness.P99)
	}
	x := resolutionRun{off: map[verdict.Quantity]float64{}}
	x.text = fmt.Sprintf("%s %s, p99 of wake-ups %v", name, got.Verdict, late)
	add := func(q verdict.Quantity, is, should, per float64) {
		n := math.Abs(is-should) / per
		x.off[q] = n
		x.text += fmt.Sprintf("; %s %.4g for %.4g: %.3f", q, is, should, n)
	}
	add(verdict.Goodput, got.GoodputGbps, want.GoodputGbps, want.GoodputGbps)
	l, m := got.LatencyNS["all"], want.LatencyNS["all"]
	add(verdict.Median, l.P50, m.P50, float64(late))
	add(verdict.Tail, l.P99, m.P99, float64(late))
	deepest := func(s *results.VariantSummary) (most float64) {
		for _, q := range s.QueueBytes.Ports {
			most = max(most, q.Mean)
		}
		return most
	}
	carried := float64(v.Fabric.Spec.HostRate.BytesIn(max(late, units.Microsecond)))
	add(verdict.Depth, deepest(got), deepest(want), carried)
	return x
}
