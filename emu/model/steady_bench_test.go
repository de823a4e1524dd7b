package model

import (
	"fmt"
	"io"
	"testing"

	"sirdbed/baselines/all"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// BenchmarkSteady is the cost of the paper's fabric at half load in the steady state: each op
// is 1 nominal ms, from 4 ms on. Goodput says how steady that is.
//
//	go test ./emu/model -run '^$' -bench Steady/wkc/sird -benchtime 4x
func BenchmarkSteady(b *testing.B) {
	for _, sizes := range traffic.Workloads() {
		for _, name := range []string{"sird", "homa", "dctcp"} {
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
	delivered := func() (n int64) {
		for _, h := range s.hosts {
			n += h.core.Counts().Payload
		}
		return n
	}
	before, bytes := s.Totals().PortStats.Packets, delivered()
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		s.Run(s.Now() + units.Millisecond)
	}
	hops := float64(s.Totals().PortStats.Packets - before)
	b.ReportMetric(float64(b.Elapsed().Microseconds())/hops, "us/hop")
	b.ReportMetric(8*float64(delivered()-bytes)/float64(b.N)/1e6/float64(len(s.hosts)), "Gbps/host")
}
