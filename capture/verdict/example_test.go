package verdict_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"sirdbed/capture/results"
	"sirdbed/capture/verdict"
	"sirdbed/emu"
	"sirdbed/emu/model"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Whether the figures of a run can be believed: the checks that were made, and what
// they come to.
func ExampleJudge() {
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
	judged := verdict.Judge(v)
	fmt.Println(judged.Level, judged.Reasons)
	// Output:
	// PASS []
}
