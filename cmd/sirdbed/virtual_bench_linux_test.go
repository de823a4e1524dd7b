//go:build !portable

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"sirdbed/emu"
)

const benchLinks = ", host_rate: 100Gbps, core_rate: 400Gbps, host_delay: 1.25us, core_delay: 0.5us}"

// benchFabrics are growing parts of the paper's fabric, loaded to a half with its
// largest workload.
var benchFabrics = []struct {
	hosts    int
	topology string
	duration string
}{
	{8, "{leaves: 1, hosts_per_leaf: 8, host_rate: 100Gbps, host_delay: 1.25us}", "2ms"},
	{36, "{leaves: 3, hosts_per_leaf: 12, spines: 2" + benchLinks, "700us"},
	{72, "{leaves: 6, hosts_per_leaf: 12, spines: 2" + benchLinks, "400us"},
	{144, "{leaves: 9, hosts_per_leaf: 16, spines: 4" + benchLinks, "400us"},
}

// benchRun runs a fabric and returns its facts: processor and wall time are the
// machine's.
func benchRun(b *testing.B, binary, engine, topology, duration string) *emu.Facts {
	dir := b.TempDir()
	file := filepath.Join(dir, "bench.yaml")
	text := fmt.Sprintf(`name: bench
topology: %s
traffic:
  - {name: all, pattern: poisson, sizes: wkc, load: 0.5}
warmup: 100us
duration: %s
drain: 0us
`, topology, duration)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		b.Error(err)
		return nil
	}
	cmd := exec.Command(binary, "run", "--engine", engine, "--out", filepath.Join(dir, "out"), file)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Errorf("%v\n%s", err, out)
		return nil
	}
	found, err := filepath.Glob(filepath.Join(dir, "out", "variants", "*", "facts.json"))
	if err != nil || len(found) != 1 {
		b.Errorf("facts: %v, %v", found, err)
		return nil
	}
	facts := &emu.Facts{}
	if text, err := os.ReadFile(found[0]); err != nil {
		b.Error(err)
	} else if err := json.Unmarshal(text, facts); err != nil {
		b.Error(err)
	}
	return facts
}

// perHop is the wall time for each packet and port, in ns.
func perHop(f *emu.Facts) float64 {
	packets := int64(0)
	for _, p := range f.Ports {
		packets += p.Packets
	}
	return (f.Wall - f.Startup) * 1e9 / float64(max(1, packets))
}

// BenchmarkVirtual runs each fabric on the virtual engine and on the model, its
// reference on the same machine.
func BenchmarkVirtual(b *testing.B) {
	binary, _ := virtualBinary(b)
	smallest := 0.0
	for _, fabric := range benchFabrics {
		b.Run(fmt.Sprintf("hosts=%d", fabric.hosts), func(b *testing.B) {
			var startup, perMS, hop, model float64
			for range b.N {
				f := benchRun(b, binary, "virtual", fabric.topology, fabric.duration)
				m := benchRun(b, binary, "model", fabric.topology, fabric.duration)
				if f == nil || m == nil {
					b.FailNow()
				}
				startup += f.Startup
				perMS += (f.Wall - f.Startup) / (f.Reached.Seconds() * 1e3)
				hop += perHop(f)
				model += perHop(m)
			}
			n := float64(b.N)
			if smallest == 0 {
				smallest = hop / n
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(startup/n, "s-to-start")
			b.ReportMetric(perMS/n, "s/nominal-ms")
			b.ReportMetric(hop/n, "ns/packet-hop")
			b.ReportMetric(hop/n/smallest, "of-8-hosts")
			b.ReportMetric(hop/model, "of-model")
		})
	}
}

// BenchmarkVirtualTwoAtOnce is how much of its speed a run keeps beside another.
func BenchmarkVirtualTwoAtOnce(b *testing.B) {
	binary, _ := virtualBinary(b)
	fabric := benchFabrics[1]
	var alone, beside float64
	for range b.N {
		one := benchRun(b, binary, "virtual", fabric.topology, fabric.duration)
		var pair [2]*emu.Facts
		var both sync.WaitGroup
		for i := range pair {
			both.Go(func() { pair[i] = benchRun(b, binary, "virtual", fabric.topology, fabric.duration) })
		}
		both.Wait()
		if one == nil || pair[0] == nil || pair[1] == nil {
			b.FailNow()
		}
		alone += one.Wall - one.Startup
		beside += max(pair[0].Wall-pair[0].Startup, pair[1].Wall-pair[1].Startup)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(alone/beside, "of-single-speed")
}
