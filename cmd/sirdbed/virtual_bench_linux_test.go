//go:build !portable

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"sirdbed/capture/results"
	"sirdbed/emu"
)

// What a run costs rises until its load has built up. So cost is that of an interval of nominal
// time. On the model it is the difference of two runs, of the same seed, that end at different
// times. On the virtual engine, minutes lie between two such runs, and a shared machine is
// often half as fast then: there it is the slope of one run's progress, and packets and
// goodput are those of the model, which has the same messages.

const benchLinks = ", host_rate: 100Gbps, core_rate: 400Gbps, host_delay: 1.25us, core_delay: 0.5us}"

// benchFabrics are growing parts of the paper's fabric, loaded to a half with its
// largest workload, and the interval of ms that is measured.
var benchFabrics = []struct {
	hosts    int
	topology string
	from, to float64
	guests   []int
}{
	{8, "{leaves: 1, hosts_per_leaf: 8, host_rate: 100Gbps, host_delay: 1.25us}", 6, 26, []int{1}},
	{36, "{leaves: 3, hosts_per_leaf: 12, spines: 2" + benchLinks, 6, 10, []int{1, 2}},
	{72, "{leaves: 6, hosts_per_leaf: 12, spines: 2" + benchLinks, 6, 7, []int{1, 2}},
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

// benchModel is the cost of an interval of a fabric's run on the model, in ms.
func benchModel(b *testing.B, binary, topology string, from, to float64) benchCost {
	early, _ := benchRun(b, binary, topology, from, "--engine", "model")
	late, _ := benchRun(b, binary, topology, to, "--engine", "model")
	return benchCost{late.startup, late.seconds - early.seconds, late.ms - early.ms, late.packets - early.packets,
		late.gigabits - early.gigabits}
}

// benchVirtual is that on the virtual engine, of which model is the same interval.
func benchVirtual(b *testing.B, binary, topology string, from, to float64, model benchCost,
	args ...string) benchCost {
	c, lines := benchRun(b, binary, topology, to, append([]string{"--engine", "virtual"}, args...)...)
	perMS, err := slope(lines, from)
	if err != nil {
		b.Error(err)
	}
	model.startup, model.seconds = c.startup, perMS*model.ms
	return model
}

// progressLine says how far a run is, in ms, and after how many seconds.
var progressLine = regexp.MustCompile(`([0-9.]+) of [0-9.]+ ms nominal, ([0-9]+) s so far`)

// slope is by how many seconds a run's progress rises with a nominal ms, of the lines from a
// nominal time on, by least squares.
func slope(lines []byte, from float64) (float64, error) {
	var n, x, y, xx, xy float64
	for _, found := range progressLine.FindAllSubmatch(lines, -1) {
		ms, err1 := strconv.ParseFloat(string(found[1]), 64)
		s, err2 := strconv.ParseFloat(string(found[2]), 64)
		if err := errors.Join(err1, err2); err != nil {
			return 0, err
		}
		if ms >= from {
			n, x, y, xx, xy = n+1, x+ms, y+s, xx+ms*ms, xy+ms*s
		}
	}
	if d := n*xx - x*x; n >= 4 && d > 0 {
		return (n*xy - x*y) / d, nil
	}
	return 0, fmt.Errorf("%v lines of progress from %v ms on, want at least 4 for a slope", n, from)
}

// benchRun runs a fabric for some ms of nominal time, and returns what all of that cost, and
// what was printed.
func benchRun(b *testing.B, binary, topology string, ms float64, args ...string) (benchCost, []byte) {
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
		return benchCost{}, nil
	}
	out := filepath.Join(dir, "out")
	cmd := exec.Command(binary, append([]string{"run", "--out", out, file}, args...)...)
	printed, err := cmd.CombinedOutput()
	if err != nil {
		b.Errorf("%v\n%s", err, printed)
		return benchCost{}, nil
	}
	found, err := filepath.Glob(filepath.Join(out, results.VariantsDir, "*", emu.FactsFile))
	if err != nil || len(found) != 1 {
		b.Errorf("facts: %v, %v", found, err)
		return benchCost{}, nil
	}
	facts, summary := &emu.Facts{}, &results.Summary{}
	for path, into := range map[string]any{found[0]: facts, filepath.Join(out, "summary.json"): summary} {
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			b.Error(err)
			return benchCost{}, nil
		}
	}
	c := benchCost{startup: facts.Startup, seconds: facts.Wall - facts.Startup, ms: facts.Reached.Seconds() * 1e3,
		gigabits: summary.Variants[0].GoodputGbps * ms / 1e3}
	for _, p := range facts.Ports {
		c.packets += float64(p.Packets)
	}
	return c, printed
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
						model = benchModel(b, binary, fabric.topology, fabric.from, fabric.to)
					}
					c := benchVirtual(b, binary, fabric.topology, fabric.from, fabric.to, model,
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
		early, _ := benchRun(b, binary, fabric.topology, 0.5, "--engine", "virtual")
		late, _ := benchRun(b, binary, fabric.topology, 1, "--engine", "virtual")
		late.seconds -= early.seconds
		return late
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
