package results_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/emu/model"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// From an experiment to what its messages took: an engine leaves logs, Analyze
// reads them.
func ExampleAnalyze() {
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	x := emu.Experiment{
		Protocol: "sird", Seed: 1,
		Topology: topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: 100 * units.Gbps, HostDelay: units.Microsecond},
		Streams: []traffic.Stream{{Name: "small", Pattern: traffic.PatternFixed, From: []string{"h1-1"},
			To: []string{"h1-2"}, Size: 8, Interval: 10 * units.Microsecond}},
		Duration: units.Millisecond, QueueEvery: 10 * units.Microsecond, GaugeEvery: 10 * units.Microsecond,
	}
	run, err := emu.OpenRunDir(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	if _, err := (model.Engine{}).Run(context.Background(), &x, run, emu.Hooks{}); err != nil {
		log.Fatal(err)
	}
	v, err := results.Analyze(run, results.Options{})
	if err != nil {
		log.Fatal(err)
	}
	small, _ := v.Stream("small")
	fmt.Println(small.Measured, "messages, median latency", units.Time(small.LatencyNS.P50))
	fmt.Println("problems:", v.Problems)
	// Output:
	// 100 messages, median latency 2.017us
	// problems: []
}
