//go:build unix

package model

import (
	"fmt"
	"io"
	"runtime"
	"syscall"
	"testing"
	"time"

	"sirdbed/baselines/all"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// BenchmarkSteady is the cost of the paper's fabric at half load in the steady state: each op
// is 1 nominal ms, from 4 ms on. Processor time counts, since machines are shared. What the
// last quarter costs, and what is in memory at the end, show what grows; goodput says how
// steady the state is. ExpressPass does not carry WKa and WKb at half load.
//
//	go test ./emu/model -run '^$' -bench Steady/wkc/sird -benchtime 4x
func BenchmarkSteady(b *testing.B) {
	for _, sizes := range traffic.Workloads() {
		for _, name := range []string{"sird", "homa", "dctcp", "swift", "dcpim", "xpass"} {
			b.Run(sizes+"/"+name, func(b *testing.B) { steady(b, name, sizes) })
		}
	}
}

func steady(b *testing.B, name, sizes string) {
	f := paperFabric(b)
	protocol, err := all.Find(name)
	if err != nil {
		b.Fatal(err)
	}
	text := "{}"
	if name == "homa" {
		text = fmt.Sprintf(`{"workload": %q}`, sizes)
	}
	params, err := all.DecodeParams(protocol, f, []byte(text))
	if err != nil {
		b.Fatal(err)
	}
	s := newSim(b, Config{
		Fabric: f, Protocol: protocol, Params: params, Seed: 1, From: 4 * units.Millisecond,
		Streams: []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Sizes: sizes, Load: 0.5, Reply: 4}},
		Log:     func(topo.HostID) io.Writer { return io.Discard },
	})
	s.Run(4 * units.Millisecond)
	payload := func() (n int64) {
		for _, h := range s.hosts {
			n += h.core.Counts().Payload
		}
		return n
	}
	hops := func() float64 { return float64(s.Totals().PortStats.Packets) }
	from, bytes, allocs, cpu := hops(), payload(), allocations(), processorTime()
	late, lateCPU := from, cpu // of the last quarter
	b.ResetTimer()
	for n := range b.N {
		if n == b.N-b.N/4 {
			late, lateCPU = hops(), processorTime()
		}
		s.Run(s.Now() + units.Millisecond)
	}
	end, n := processorTime(), hops()
	b.ReportMetric(float64(end-cpu)/1e3/(n-from), "us/hop")
	b.ReportMetric(float64(end-lateCPU)/1e3/(n-late), "late-us/hop")
	b.ReportMetric(float64(allocations()-allocs)/(n-from), "allocs/hop")
	b.ReportMetric(8*float64(payload()-bytes)/float64(b.N)/1e6/float64(len(s.hosts)), "Gbps/host")
	b.ReportMetric((n-from)/float64(b.N)/1e6, "Mhops/ms")
	b.ReportMetric(liveMemory()/1e6, "MB")
	runtime.KeepAlive(s)
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// allocations is how many objects were ever allocated.
func allocations() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// liveMemory is the bytes that are in use.
func liveMemory() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
