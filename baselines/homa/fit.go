package homa

import (
	"encoding/json"
	"fmt"
	"math"

	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// ownTraffic is the workload that stands for what a scenario sends.
const ownTraffic = "traffic"

// fit returns the parameters that follow from a scenario's traffic, unless they are
// given (README, Cutoffs): its workload where all streams have the same, for which the
// evaluation's levels are known, and else levels and cutoffs for all its messages.
func (p *Params) fit(f *topo.Fabric, streams []traffic.Stream) json.RawMessage {
	if p.Workload != ownTraffic || len(p.Cutoffs) > 0 {
		return nil
	}
	if name := streams[0].Sizes; name != "" {
		same := true
		for i := range streams {
			same = same && streams[i].Sizes == name
		}
		if same {
			return encode(map[string]any{"workload": name})
		}
	}
	sizes := traffic.Mixture(f, streams)
	if len(sizes) == 0 {
		return nil
	}
	fr := framing(f.Spec.MTU)
	levels := p.UnscheduledLevels
	if levels == 0 {
		levels = levelsFor(unscheduledShare(sizes, p.RTTBytes, fr.MSS))
	}
	cuts := []string{}
	for _, c := range p.census(sizes, fr).cutoffs(levels) {
		if c == sizes[len(sizes)-1].Size {
			break // no message has more left
		}
		cuts = append(cuts, fmt.Sprintf("%dB", int64(c)))
	}
	return encode(map[string]any{"cutoffs": cuts, "unscheduled_levels": len(cuts) + 1})
}

// levelsFor returns the share of priorities that unscheduled data gets: its share of
// all bytes, at least one, and one left for scheduled data (Homa paper, section 3.4).
func levelsFor(share float64) int {
	return min(max(1, int(math.Round(priorities*share))), priorities-1)
}

// unscheduledShare returns the share of payload that needs no grants.
func unscheduledShare(sizes []traffic.Point, rttBytes, mss units.Bytes) float64 {
	unscheduled, all, before := 0.0, 0.0, 0.0
	for _, p := range sizes {
		share := p.Cumulative - before
		before = p.Cumulative
		unscheduled += share * float64(unscheduledOf(p.Size, rttBytes, mss))
		all += share * float64(p.Size)
	}
	return unscheduled / all
}

func encode(params map[string]any) json.RawMessage {
	text, err := json.Marshal(params)
	if err != nil {
		panic(err) // of texts and numbers
	}
	return text
}
