package verdict

import (
	"fmt"

	"sirdbed/capture/results"
	"sirdbed/topo/units"
)

var fastestMessage = Check{
	Name: "fastest message",
	Asks: "Was any message faster than an idle network could have carried it?",
	How: "Each message's latency is compared with its latency on an idle fabric, by the larger of the two " +
		"definitions of that (paper: payload at the bottleneck's rate and propagation; exact: headers and every " +
		"hop's store-and-forward too). A message may be faster by what ports may send at once after an idle time, " +
		"by what their rates are rounded by, by 2 ns a hop for times that are rounded down, and, where packets " +
		"have several paths, by one packet time, since they can be under way side by side. Faster than that means " +
		"that a port or a wire was faster than it should be, or that a clock was wrong.",
	Made:       always,
	Thresholds: []Threshold{rateSlack},
	Do: "See the checks link rate, rounded rates and departures. If they pass, the clocks of hosts do not agree: " +
		"that is a bug.",
	check: checkFastestMessage,
}

// rateSlack is by how much a port's rate may be off, as a share of it.
var rateSlack = Threshold{
	Of: "what a rate is off by", Limit: 0.001, Unit: share, Level: results.Invalid,
	Why: "The kernel counts in whole bytes and ns, by which a full packet's time is off by up to 0.1 %.",
}

// roundings is how many ns a hop may round a message's way down by: its time on
// the wire, and its delay.
const roundings = 2

func checkFastestMessage(j *judge) {
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
		gain, slack := unloaded-m.Latency(), j.slack(m, unloaded)
		if worst == nil || gain-slack > gained-allowed {
			worst, gained, allowed, definition = m, gain, slack, name
		}
	}
	if worst == nil {
		return
	}
	level, limit := results.Pass, "the slowdown is at least 1, less bursts and rounding"
	if gained > allowed {
		level = results.Invalid
	}
	unloaded := worst.Latency() + gained
	name := fmt.Sprintf("%v, %s>%s", worst.Size, j.v.Fabric.HostName(worst.Src), j.v.Fabric.HostName(worst.Dst))
	if gained <= 0 {
		j.add(level, limit, "%.4f times its unloaded latency (%s)", float64(worst.Latency())/float64(unloaded), name)
		return
	}
	j.add(level, limit, "%v less than %v unloaded (%s), %v are explained (%s)",
		gained, unloaded, definition, allowed, name)
}

// slack is how much less than unloaded a message may take. Where packets have
// several paths, those of a message can be under way side by side.
func (j *judge) slack(m *results.Message, unloaded units.Time) units.Time {
	slack := units.Time(rateSlack.Limit * float64(unloaded))
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
