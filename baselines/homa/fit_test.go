package homa_test

import (
	"encoding/json"
	"testing"

	"sirdbed/baselines/homa"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// README, Cutoffs: of one workload the evaluation's; of other traffic as many levels as
// its unscheduled bytes are of all, and cutoffs that divide them; what is given stays.
func TestCutoffsFollowTheTraffic(t *testing.T) {
	poisson := func(sizes string, size units.Bytes, reply units.Bytes, load float64) traffic.Stream {
		return traffic.Stream{Name: sizes + size.String(), Pattern: traffic.PatternPoisson, Sizes: sizes, Size: size,
			Reply: reply, Load: load}
	}
	list := func(s ...traffic.Stream) []traffic.Stream { return s }
	for _, c := range []struct {
		name    string
		streams []traffic.Stream
		change  func(*homa.Params)
		want    string
	}{
		{"one workload, answered", list(poisson("wka", 0, 4, 0.5)), nil, `{"workload":"wka"}`},
		{"one workload twice", list(poisson("wkb", 0, 4, 0.2), poisson("wkb", 0, 0, 0.3)), nil, `{"workload":"wkb"}`},
		// All is unscheduled: 7 levels, if there were as many sizes.
		{"one size", list(poisson("", 1000, 0, 0.5)), nil, `{"cutoffs":[],"unscheduled_levels":1}`},
		// Packets of 1 to 5 with 1446 bytes each: an even share at each number left.
		{"five packets", list(poisson("", 7230, 0, 0.5)), nil,
			`{"cutoffs":["1446B","2892B","4338B","5784B"],"unscheduled_levels":5}`},
		{"bulk: a hundredth is unscheduled", list(poisson("", 10_000_000, 0, 0.5)), nil,
			`{"cutoffs":[],"unscheduled_levels":1}`},
		// Half of the bytes are unscheduled, in messages of 100 and of 90,000 bytes.
		{"half and half", list(poisson("", 10_000_000, 0, 0.25), poisson("", 90_000, 0, 0.25)), nil, "4 levels"},
		{"a workload and a burst", list(poisson("wkb", 0, 0, 0.25), poisson("", 1000, 0, 0.4)), nil, "5 levels"},
		{"workload given", list(poisson("wka", 0, 0, 0.5)), func(p *homa.Params) { p.Workload = "wkb" }, ""},
		{"none given", list(poisson("wka", 0, 0, 0.5)), func(p *homa.Params) { p.Workload = "none" }, ""},
		{"cutoffs given", list(poisson("wka", 0, 0, 0.5)), func(p *homa.Params) { p.Cutoffs = []units.Bytes{100} }, ""},
		{"levels given", list(poisson("", 90_000, 0, 0.5)), func(p *homa.Params) { p.UnscheduledLevels = 3 },
			"3 levels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := rack(t, 4)
			p := params(f, c.change)
			got := homa.Protocol.Fit(f, p, c.streams)
			var fitted struct {
				Cutoffs []units.Bytes `json:"cutoffs"`
				Levels  int           `json:"unscheduled_levels"`
			}
			if got != nil {
				if err := json.Unmarshal(got, &fitted); err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(got, p); err != nil {
					t.Fatal(err)
				}
			}
			if levels, ok := map[string]int{"3 levels": 3, "4 levels": 4, "5 levels": 5}[c.want]; ok {
				if fitted.Levels != levels || len(fitted.Cutoffs) != levels-1 {
					t.Errorf("got %s, want %s", got, c.want)
				}
			} else if string(got) != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			newCore(t, f, 0, p) // which checks the parameters
		})
	}
}
