package verdict

import (
	"fmt"

	"sirdbed/capture/results"
	"sirdbed/topo/units"
)

// roundings is how many ns a hop may round a message's way down by: its time on
// the wire, and its delay.
const roundings = 2

// physics: no message was faster than over an idle network, by either definition
// of its latency there. What ports may send at once after an idle time, and what
// their rates are rounded by, aside.
func (j *judge) physics() {
	var worst *results.Message
	var gained, allowed units.Time
	definition := ""
	for i := range j.v.Messages {
		m := &j.v.Messages[i]
		if m.Completed == units.Never {
			continue
		}
		unloaded, name := m.UnloadedExact, results.Exact
		if m.UnloadedPaper > unloaded {
			unloaded, name = m.UnloadedPaper, results.Paper
		}
		if gain, slack := unloaded-m.Latency(), j.slack(m, unloaded); worst == nil || gain-slack > gained-allowed {
			worst, gained, allowed, definition = m, gain, slack, name
		}
	}
	if worst == nil {
		return
	}
	level, limit := results.Pass, "slowdown of 1, less bursts and rounding"
	if gained > allowed {
		level = results.Invalid
	}
	name := fmt.Sprintf("%v, %s>%s", worst.Size, j.v.Fabric.HostName(worst.Src), j.v.Fabric.HostName(worst.Dst))
	if gained <= 0 {
		j.add("fastest message", level, limit, "%.4f times its unloaded latency (%s)", float64(worst.Latency())/float64(worst.Latency()+gained), name)
		return
	}
	j.add("fastest message", level, limit, "%v less than %v unloaded (%s), %v are explained (%s)", gained, worst.Latency()+gained, definition, allowed, name)
}

// slack is how much less than unloaded a message may take. Where packets have
// several paths, those of a message can be under way side by side.
func (j *judge) slack(m *results.Message, unloaded units.Time) units.Time {
	slack := units.Time(rateSlack * float64(unloaded))
	path := j.v.Fabric.Path(m.Src, m.Dst, 0)
	if len(path) > 2 && j.v.Fabric.Spec.Spines > 1 {
		slack += j.packet
	}
	for _, p := range path {
		port := &j.v.Fabric.Ports[p]
		slack += port.Rate.TimeFor(j.burst(port)) + roundings
	}
	return slack
}
