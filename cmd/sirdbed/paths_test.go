package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sirdbed/capture/results"
	"sirdbed/capture/verdict"
	"sirdbed/emu"
	"sirdbed/emu/model"
	"sirdbed/scenarios"
)

// largeMessages is a scenario of a large message between racks and of another within
// one, one after the other; %s is spines, core_rate and links, and protocols.
const largeMessages = `name: paths
topology:
  {leaves: 2, hosts_per_leaf: 2, host_rate: 100Gbps, host_delay: 1us, core_delay: 0.5us, %s}
protocols: [%s]
traffic:
  - {name: across, pattern: fixed, from: [h1-1], to: [h2-1], size: %s, interval: 400us, phase: zero}
  - {name: in-rack, pattern: fixed, from: [h2-1], to: [h2-2], size: %[3]s, interval: 400us, phase: zero, start: 200us}
duration: 400us
drain: 400us
`

// cores are cores of several paths, by name.
var cores = map[string]string{
	"one is longer": "spines: 2, core_rate: 100Gbps, links: [{between: [leaf2, spine1], delay: 7us}]",
	"one is slower": "spines: 2, core_rate: 40Gbps, links: [{between: [leaf2, spine1], rate: 25Gbps}]",
	"longer and slower": "spines: 2, core_rate: 40Gbps, " +
		"links: [{between: [leaf2, spine1], rate: 25Gbps, delay: 7us}]",
	"the second is slower": "spines: 2, core_rate: 40Gbps, links: [{between: [leaf1, spine2], rate: 25Gbps}]",
	"three": "spines: 3, core_rate: 30Gbps, links: [{between: [leaf2, spine1], rate: 20Gbps}, " +
		"{between: [leaf1, spine3], delay: 3us}]",
	"alike and slow": "spines: 2, core_rate: 40Gbps",
	"alike":          "spines: 2, core_rate: 400Gbps",
}

// A message that takes several paths at once is not too fast for an idle fabric,
// and the bound is near what protocols do that spray.
func TestSeveralPathsAreNotTooFast(t *testing.T) {
	for name, core := range cores {
		for _, protocol := range []string{"sird", "homa", "dcpim", "xpass", "swift", "dctcp"} {
			t.Run(name+"/"+protocol, func(t *testing.T) {
				v := modelRun(t, fmt.Sprintf(largeMessages, core, protocol, "500KB"))
				for _, reason := range v.Verdict.Reasons {
					if strings.Contains(reason, "fastest message") {
						t.Error(reason)
					}
				}
				for i := range v.Messages {
					m := &v.Messages[i]
					ratio := float64(m.Latency()) / float64(m.Fastest())
					if m.Latency() == 0 || protocol == "homa" && ratio > 1.7 {
						t.Errorf("%s: %v, %.2f times the least", v.Fabric.HostName(m.Src), m.Latency(), ratio)
					}
				}
			})
		}
	}
}

// modelRun runs a scenario of one variant on the model, and judges it.
func modelRun(t *testing.T, text string) *results.Variant {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "scenario.yaml")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := loadScenario(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Experiments(scenarios.Options{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d experiments (%v)", len(list), err)
	}
	logs := filepath.Join(dir, "logs")
	if err := os.Mkdir(logs, 0o777); err != nil {
		t.Fatal(err)
	}
	run, err := emu.OpenRunDir(logs)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if _, err := (model.Engine{}).Run(context.Background(), &list[0], run, emu.Hooks{}); err != nil {
		t.Fatal(err)
	}
	v, err := results.Analyze(run, results.Options{Framing: framing})
	if err != nil {
		t.Fatal(err)
	}
	v.Verdict = verdict.Judge(v)
	return v
}

// No message has a slowdown below 1, exact or paper's: the short last packet of one that
// is sprayed overtakes the full one before it on another path, and that counts.
func TestNoSlowdownIsBelowOne(t *testing.T) {
	all := maps.Clone(cores)
	all["at hosts' rate"] = "spines: 2, core_rate: 100Gbps"
	var streams strings.Builder
	for i, size := range []int{8, 1000, 1500, 1600, 1700, 2000, 2500, 3000, 3100, 4500, 20_000} {
		fmt.Fprintf(&streams, "  - {name: s%d, pattern: fixed, from: [h1-1], to: [h2-1], size: %dB, interval: 1ms, "+
			"phase: zero, start: %dus}\n", size, size, 50*i)
	}
	for name, core := range all {
		for _, protocol := range []string{"sird", "homa", "dcpim", "xpass", "swift", "dctcp"} {
			t.Run(name+"/"+protocol, func(t *testing.T) {
				text := fmt.Sprintf(largeMessages, core, protocol, "500KB")
				head, _, _ := strings.Cut(text, "  - {name: across")
				v := modelRun(t, head+streams.String()+"duration: 20ms\ndrain: 400us\n")
				for i := range v.Messages {
					m := &v.Messages[i]
					if low := max(m.UnloadedPaper, m.UnloadedExact-2); m.Latency() < low {
						t.Fatalf("%v takes %v, %.3f of the least, %v", m.Size, m.Latency(),
							float64(m.Latency())/float64(low), low)
					}
				}
			})
		}
	}
}
