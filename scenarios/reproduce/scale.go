// Package reproduce plans the repetition of the paper's evaluation: which points are run,
// with how many messages, in which order, and which of them a figure or a table is of. It
// runs nothing.
package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"sirdbed/scenarios"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// A Scale is how large the fabric is, and how many messages make a point.
type Scale struct {
	Name    string
	Doc     string
	changes []scenarios.Change            // to each scenario
	fanIn   string                        // of bursts
	samples map[string]float64            // messages of a full point, by workload
	warmup  float64                       // of the warm-up at the paper's scale
	loads   []string                      // none: all
	thirds  bool                          // points of less weight have a third of the messages
	testbed map[string][]scenarios.Change // to the testbed's scenarios, by study
}

// Scales are the scales there are.
var Scales = []Scale{
	{
		Name: "paper", Doc: "the paper's 144 hosts and numbers of messages", fanIn: "30", warmup: 1, thirds: true,
		samples: map[string]float64{"wka": 5.5e6, "wkb": 591e3, "wkc": 35.8e3}, // scenarios/README, Durations
	},
	{
		Name: "small", Doc: "16 hosts in two racks, as many messages a host", fanIn: "12", warmup: 1, thirds: true,
		changes: []scenarios.Change{
			{Path: "topology.leaves", Value: "2"}, {Path: "topology.hosts_per_leaf", Value: "8"},
			{Path: "topology.spines", Value: "2"},
		},
		samples: map[string]float64{"wka": 611e3, "wkb": 65.7e3, "wkc": 3980},
	},
	{
		Name: "smoke", Doc: "8 hosts and few messages: that everything runs; its numbers mean nothing",
		fanIn: "5", warmup: 0.01,
		changes: []scenarios.Change{
			{Path: "topology.leaves", Value: "2"}, {Path: "topology.hosts_per_leaf", Value: "4"},
			{Path: "topology.spines", Value: "1"},
		},
		samples: map[string]float64{"wka": 2000, "wkb": 150, "wkc": 30},
		loads:   []string{"0.5", "0.7", "0.95"},
		testbed: map[string][]scenarios.Change{
			testbedIncast: {{Path: "warmup", Value: "500us"}, {Path: "duration", Value: "3ms"}},
			testbedCubic: {
				{Path: "warmup", Value: "500us"}, {Path: "duration", Value: "3ms"},
				{Path: "variants[loaded-tcp-cubic].warmup", Value: "500us"},
				{Path: "variants[loaded-tcp-cubic].duration", Value: "3ms"},
			},
			testbedOutcast: {
				{Path: "traffic[outcast].start", Value: "500us"}, {Path: "traffic[outcast].stagger", Value: "500us"},
				{Path: "duration", Value: "4ms"},
			},
		},
	},
}

// FindScale returns a scale by name.
func FindScale(name string) (*Scale, error) {
	var names []string
	for i := range Scales {
		if Scales[i].Name == name {
			return &Scales[i], nil
		}
		names = append(names, Scales[i].Name)
	}
	return nil, fmt.Errorf("no scale is called %q: use one of %s", name, strings.Join(names, ", "))
}

// warmups are how long a network of the paper's takes until it is as it stays, as measured
// (scenarios/paper/README, Warm-up), in ms: at loads up to 0.5, 0.7 and 0.85, and above. By
// configuration and workload, or by workload in all other configurations.
var warmups = map[string][4]units.Time{
	"wka":      {2, 12, 12, 14},
	"wkb":      {12, 12, 12, 12},
	"wkc":      {20, 20, 30, 40},
	"core/wka": {4, 12, 12, 14},
	"core/wkb": {20, 20, 20, 20},
}

// warmUp is the warm-up of a study's workload at a load, the same for all protocols and
// seeds.
func (s *Scale) warmUp(study, workload string, load float64) units.Time {
	byLoad, ok := warmups[study+"/"+workload]
	if !ok {
		byLoad = warmups[workload]
	}
	band, _ := slices.BinarySearch([]float64{0.5, 0.7, 0.85}, load)
	return max(10*units.Microsecond, units.Time(s.warmup*float64(byLoad[band]*units.Millisecond)))
}

// window is how long a stream takes to offer a number of messages.
func window(f *topo.Fabric, s *traffic.Stream, messages float64) (units.Time, error) {
	offered, err := traffic.OfferedLoad(f, []traffic.Stream{*s})
	if err != nil {
		return 0, err
	}
	bytes := messages * offered[0].MeanSize
	return max(100*units.Microsecond, units.Time(bytes*8/float64(offered[0].Rate)*1e9)), nil
}
