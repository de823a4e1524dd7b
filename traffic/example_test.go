package traffic_test

import (
	"fmt"
	"log"

	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// The messages that a host sends in the first 30 us.
func ExampleSource() {
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 3, HostRate: 100 * units.Gbps, HostDelay: units.Microsecond})
	if err != nil {
		log.Fatal(err)
	}
	streams := []traffic.Stream{
		{Name: "bulk", Pattern: traffic.PatternFixed, Phase: traffic.PhaseZero, From: []string{"h1-1"},
			To: []string{"h1-3"}, Size: 100 * units.Kilobyte, Interval: 20 * units.Microsecond},
		{Name: "rpc", Pattern: traffic.PatternPoisson, Size: 8, Reply: 64, Rate: 10 * units.Mbps},
	}
	const seed, self = 1, 0
	source, err := traffic.NewSource(f, streams, seed, self, 30*units.Microsecond)
	if err != nil {
		log.Fatal(err)
	}
	for {
		m, ok := source.Pop()
		if !ok {
			break
		}
		fmt.Println(m.At, streams[m.Tag.Stream()].Name, m.Size, "to", f.HostName(m.Dst))
	}
	// Output:
	// 0ns bulk 100KB to h1-3
	// 3.437us rpc 8B to h1-2
	// 5.241us rpc 8B to h1-3
	// 11.915us rpc 8B to h1-3
	// 20us bulk 100KB to h1-3
	// 21.507us rpc 8B to h1-2
	// 24.374us rpc 8B to h1-3
}

// Most messages of the web search workload are small, most of its bytes are in
// large ones.
func ExampleWorkload() {
	sizes, err := traffic.Workload("wkc")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("up to 100 KB: %.0f %% of messages, %.0f %% of bytes\n",
		100*sizes.CDF(100*units.Kilobyte, traffic.SamplingStep), 100*sizes.BytesCDF(100*units.Kilobyte))
	// Output:
	// up to 100 KB: 54 % of messages, 1 % of bytes
}
