//go:build !portable

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"sirdbed/capture/results"
	"sirdbed/emu"
)

// What a run costs rises until its load has built up. So cost is the difference of two runs,
// of the same seed, that end at different times: what the time between them took.

const benchLinks = ", host_rate: 100Gbps, core_rate: 400Gbps, host_delay: 1.25us, core_delay: 0.5us}"

// benchFabrics are growing parts of the paper's fabric, loaded to a half with its
// largest workload, and the interval of ms that is measured.
var benchFabrics = []struct {
	hosts    int
	topology string
	from, to float64
	guests   []int
}{
	{8, "{leaves: 1, hosts_per_leaf: 8, host_rate: 100Gbps, host_delay: 1.25us}", 6, 8, []int{1}},
	{36, "{leaves: 3, hosts_per_leaf: 12, spines: 2" + benchLinks, 6, 7, []int{1, 2}},
	{72, "{leaves: 6, hosts_per_leaf: 12, spines: 2" + benchLinks, 6, 6.5, []int{1, 2}},
	{144, "{leaves: 9, hosts_per_leaf: 16, spines: 4" + benchLinks, 6, 7, []int{1, 2}},
}

// A benchCost is what a run took, or what an interval of it did.
type benchCost struct {
	startup, seconds float64 // by the wall clock, start-up apart
	ms               float64 // of nominal time
	packets          float64 // by all ports
	gigabits         float64 // of payload, per host
}

// hop is the time for each packet and port, in us.
func (c benchCost) hop() float64 { return c.seconds * 1e6 / max(1, c.packets) }

// goodput of a host, in Gbps.
func (c benchCost) goodput() float64 { return c.gigabits / c.ms * 1e3 }

// benchInterval is the cost of an interval of a fabric's run, in ms. args choose the engine.
func benchInterval(b *testing.B, binary, topology string, from, to float64, args ...string) benchCost {
	early, late := benchRun(b, binary, topology, from, args), benchRun(b, binary, topology, to, args)
	return benchCost{late.startup, late.seconds - early.seconds, late.ms - early.ms, late.packets - early.packets,
		late.gigabits - early.gigabits}
}

// benchRun runs a fabric for some ms of nominal time, and returns what all of that cost.
func benchRun(b *testing.B, binary, topology string, ms float64, args []string) benchCost {
	dir := b.TempDir()
	file := filepath.Join(dir, "bench.yaml")
	text := fmt.Sprintf(`name: bench
topology: %s
traffic:
  - {name: all, pattern: poisson, sizes: wkc, load: 0.5}
warmup: 0us
duration: %gms
drain: 0us
`, topology, ms)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		b.Error(err)
		return benchCost{}
	}
	out := filepath.Join(dir, "out")
	cmd := exec.Command(binary, append([]string{"run", "--out", out, file}, args...)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		b.Errorf("%v\n%s", err, text)
		return benchCost{}
	}
	found, err := filepath.Glob(filepath.Join(out, results.VariantsDir, "*", emu.FactsFile))
	if err != nil || len(found) != 1 {
		b.Errorf("facts: %v, %v", found, err)
		return benchCost{}
	}
	facts, summary := &emu.Facts{}, &results.Summary{}
	for path, into := range map[string]any{found[0]: facts, filepath.Join(out, "summary.json"): summary} {
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			b.Error(err)
			return benchCost{}
		}
	}
	c := benchCost{startup: facts.Startup, seconds: facts.Wall - facts.Startup, ms: facts.Reached.Seconds() * 1e3,
		gigabits: summary.Variants[0].GoodputGbps * ms / 1e3}
	for _, p := range facts.Ports {
		c.packets += float64(p.Packets)
	}
	return c
}

// BenchmarkVirtual runs each fabric on the virtual engine, by one guest and by more, and on
// the model, its reference on the same machine.
func BenchmarkVirtual(b *testing.B) {
	binary, _ := virtualBinary(b)
	for _, fabric := range benchFabrics {
		var model benchCost
		for _, guests := range fabric.guests {
			b.Run(fmt.Sprintf("hosts=%d/guests=%d", fabric.hosts, guests), func(b *testing.B) {
				var startup, perMS, hop, goodput float64
				for range b.N {
					if model.ms == 0 {
						model = benchInterval(b, binary, fabric.topology, fabric.from, fabric.to, "--engine", "model")
					}
					c := benchInterval(b, binary, fabric.topology, fabric.from, fabric.to, "--engine", "virtual",
						"--guests", strconv.Itoa(guests))
					if b.Failed() {
						b.FailNow()
					}
					startup, perMS = startup+c.startup, perMS+c.seconds/c.ms
					hop, goodput = hop+c.hop(), goodput+c.goodput()
				}
				n := float64(b.N)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(startup/n, "s-to-start")
				b.ReportMetric(perMS/n, "s/nominal-ms")
				b.ReportMetric(hop/n, "us/packet-hop")
				b.ReportMetric(goodput/n, "Gbps/host")
				b.ReportMetric(hop/n/model.hop(), "of-model")
			})
		}
	}
}

// BenchmarkVirtualTwoAtOnce is how much of its speed a run keeps beside another.
func BenchmarkVirtualTwoAtOnce(b *testing.B) {
	binary, _ := virtualBinary(b)
	fabric := benchFabrics[1]
	run := func() benchCost {
		return benchInterval(b, binary, fabric.topology, 0.5, 1, "--engine", "virtual")
	}
	var alone, beside float64
	for range b.N {
		one := run()
		var pair [2]benchCost
		var both sync.WaitGroup
		for i := range pair {
			both.Go(func() { pair[i] = run() })
		}
		both.Wait()
		if b.Failed() {
			b.FailNow()
		}
		alone += one.seconds
		beside += max(pair[0].seconds, pair[1].seconds)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(alone/beside, "of-single-speed")
}
