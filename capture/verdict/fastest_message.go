package verdict

import (
	"fmt"

	"sirdbed/capture/results"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

var fastestMessage = Check{
	Name: "fastest message",
	Asks: "Was any message faster than an idle network could have carried it?",
	How: "Each message's latency is compared with the least that an idle fabric allows: headers, store-and-forward " +
		"at every hop and, where there are several paths, the fastest use of all of them (see sirdbed topo). A " +
		"message may be faster by the burst that ports may send after an idle time, by the rounding of their rates, " +
		"by 2 ns a hop for times that are rounded down, in real time by what the machine's timers do not resolve, " +
		"and one way by the error of peers' clocks. If one is faster than that, a port or a wire was faster than it " +
		"should be, or a clock was wrong.",
	Made:       always,
	Thresholds: []Threshold{rateSlack},
	Do: "See the checks link rate, rounded rates and departures. If they pass, the clocks of hosts do not agree: " +
		"that is a bug.",
	check: checkFastestMessage,
}

// rateSlack is by how much a port's rate may be off, as a share of it.
var rateSlack = Threshold{
	Of: "error of a rate", Limit: 0.001, Unit: share, Level: results.Invalid,
	Why: "The kernel counts in whole bytes and ns, so a full packet's time is off by up to 0.1 %.",
}

// roundings is how many ns a hop may round a message's way down by: its time on
// the wire, and its delay.
const roundings = 2

func checkFastestMessage(j *judge) {
	var worst *results.Message
	var gained, allowed units.Time
	for i := range j.v.Messages {
		m := &j.v.Messages[i]
		if m.Completed == units.Never {
			continue
		}
		gain, slack := m.Fastest()-m.Latency(), j.slack(m)
		if worst == nil || gain-slack > gained-allowed {
			worst, gained, allowed = m, gain, slack
		}
	}
	if worst == nil {
		return
	}
	level, limit := results.Pass, "no faster than an idle fabric allows, less bursts and rounding"
	if gained > allowed {
		level = results.Invalid
	}
	name := fmt.Sprintf("%v, %s>%s", worst.Size, j.v.Fabric.HostName(worst.Src), j.v.Fabric.HostName(worst.Dst))
	if gained <= 0 {
		j.add(level, limit, "%.4f times its unloaded latency (%s)",
			float64(worst.Latency())/float64(worst.Fastest()), name)
		return
	}
	j.add(level, limit, "%v less than %v unloaded, %v are explained (%s)", gained, worst.Fastest(), allowed, name)
}

// slack is how much less than unloaded a message may take, there and, if that is
// measured, back.
func (j *judge) slack(m *results.Message) units.Time {
	slack := units.Time(rateSlack.Limit*float64(m.Fastest())) + j.hops(m.Src, m.Dst)
	if j.realTime() {
		slack += 2 * j.v.Facts.RealTime.Grain // there, and back where that is measured
	}
	if m.Reply >= 0 {
		slack += j.hops(m.Dst, m.Src)
	} else {
		slack += j.clockError(m)
	}
	return slack
}

// hops is how much sooner bursts and rounding can make a message arrive.
func (j *judge) hops(src, dst topo.HostID) (most units.Time) {
	f := j.v.Fabric
	spines := 1
	if f.LeafOf(src) != f.LeafOf(dst) && !f.Alike(src, dst) {
		spines = f.Spec.Spines
	}
	for spine := 1; spine <= spines; spine++ {
		var sum units.Time
		for _, p := range f.Path(src, dst, spine) {
			port := &f.Ports[p]
			sum += port.Rate.TimeFor(j.burst(port)) + roundings
		}
		most = max(most, sum)
	}
	return most
}
