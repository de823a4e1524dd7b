package verdict

import (
	"fmt"

	"sirdbed/capture/results"
	"sirdbed/topo/units"
)

var departures = Check{
	Name: "departures",
	Asks: "Did any captured port ever send faster than its link?",
	How: "Packets that leave through a captured port fill a bucket that drains at the link's rate. It must never " +
		"hold more than what the port may send at once (its burst) plus one packet; more makes a run INVALID. A port " +
		"whose average rate is right can still be too fast for a while, which the check link rate does not see.",
	Made:  notModel,
	Do:    "It is a bug of the engine's ports, or the capture's times are wrong (see wake-up lateness).",
	check: checkDepartures,
}

func checkDepartures(j *judge) {
	var over, allowed units.Bytes
	most, name := -1.0, ""
	for _, r := range j.v.Captures {
		for _, q := range r.Ports {
			if len(q.Left) == 0 {
				continue
			}
			limit, excess := j.burst(q.Port)+j.v.Fabric.FullFrame(), q.Excess()
			if s := float64(excess) / float64(limit); s > most {
				most, over, allowed, name = s, excess, limit, q.Port.Name
			}
		}
	}
	if name == "" {
		return
	}
	level, limit := results.Pass, ""
	if over > allowed {
		level, limit = results.Invalid, fmt.Sprintf("limit %v", allowed)
	}
	j.add(level, fmt.Sprintf("at most %v: burst and one packet", allowed), "at most %v ahead of link rate%s", over,
		where(name, limit))
}
