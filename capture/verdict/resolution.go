package verdict

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"sirdbed/capture/results"
	"sirdbed/topo/units"
)

// A Quantity is what a figure measures, and so what late wake-ups do to it.
type Quantity string

// The quantities.
const (
	Goodput Quantity = "goodput"    // Value in any unit
	Median  Quantity = "median"     // of latency; Value in ns
	Tail    Quantity = "p99"        // and further; Value in ns
	Depth   Quantity = "mean queue" // Value in bytes
)

// A Figure is one that a run is asked for.
type Figure struct {
	Name  string
	Of    Quantity
	Value float64
}

// resolutionData is the rule that ties lateness to the distance from the model: for each
// quantity how far off figures were, against the 99th percentile of wake-ups.
//
//go:embed resolution.json
var resolutionData []byte

// A resolutionRule is what resolution.json has.
type resolutionRule struct {
	Source string `json:"source"`
	// Off is by how much figures were off at most in 95 of 100 runs: latencies in
	// multiples of the p99 of wake-ups, queues in multiples of what a link carries in that
	// time, and goodput as a share of itself, since late wake-ups are made good.
	Off map[Quantity]float64 `json:"off"`
}

var rule = func() (r resolutionRule) {
	if err := json.Unmarshal(resolutionData, &r); err != nil {
		panic(err) // a file of the program itself
	}
	return r
}()

var offLimit = Threshold{
	Of: "error of a figure asked for, as a share of it", Limit: 0.05, Unit: share,
	Level: results.Degraded,
	Why:   "Figures of a real run are those of the network if they are within 5 % of the model's.",
}

var starvedLimit = Threshold{
	Of: "goodput that a protocol with a window may lose to late hosts", Limit: 0.5, Unit: share, Level: results.Invalid,
	Why: "The pace of senders is then the machine's, not the protocol's.",
}

var resolution = Check{
	Name: "resolution",
	Asks: "Does the machine resolve the figures that the run was asked for?",
	How: "In real time (dilation 1) a packet takes less time than wake-ups are late by. Rates hold, since what is " +
		"late is made good; latencies and queues are known to within the 99th percentile of wake-ups, of the host " +
		"where it is worst. How far that puts figures off follows from runs that were compared with the model (" +
		rule.Source + "). Figures asked for are those of the scenario's bounds, or else goodput, median and p99 of " +
		"latency and the mean queue. If a window of the protocol does not fill the credit loop that hosts found " +
		"before the run, the loop limits goodput, unless the traffic takes less than half of what the loop allows.",
	Made:       inRealTime,
	Thresholds: []Threshold{offLimit, starvedLimit},
	Do: "Ask for figures that are long beside a wake-up, use a machine with less to do or more processors, or a " +
		"larger --dilation if neither devices nor programs take part.",
	check: checkResolution,
}

// inRealTime are the runs that are judged by resolution, and not in packet times.
var inRealTime = Made{"runs with traffic on the engine real at dilation 1", func(j *judge) bool {
	return j.realTime() && j.hasTraffic()
}}

// stretched are the other runs on a kernel.
var stretched = Made{
	"runs with traffic on the engines virtual, and real at a dilation above 1",
	func(j *judge) bool { return onKernel.of(j) && !j.realTime() && j.hasTraffic() },
}

// realTime reports whether the run's clock was the machine's own.
func (j *judge) realTime() bool { return j.v.Facts != nil && j.v.Facts.RealTime != nil }

func checkResolution(j *judge) {
	late := j.lateWakeUps()
	limit := fmt.Sprintf("figures asked for are at most %s off", offLimit.number())
	if late == 0 {
		j.add(results.Degraded, limit, "it was not measured")
		return
	}
	asked := j.asked
	if len(asked) == 0 {
		asked = usual(j.v)
	}
	level, unresolved := results.Pass, []string(nil)
	for _, f := range asked {
		off := f.off(late, j.v.Fabric.Spec.HostRate)
		level = level.Worse(offLimit.level(off))
		if off > offLimit.Limit {
			unresolved = append(unresolved, fmt.Sprintf("%s (%s)", f.Name, about(off)))
		}
	}
	rates := fmt.Sprintf("rates within %.0f %%, ", math.Ceil(100*rule.Off[Goodput]))
	if off := j.starved(); off > offLimit.Limit {
		rates = ""
		level = level.Worse(offLimit.level(off)).Worse(starvedLimit.level(off))
		l := j.v.Facts.Loop
		unresolved = append(unresolved, fmt.Sprintf("goodput (%s: a credit loop takes %v in place of %v, which a "+
			"window of %v does not fill; see measured in the scenario's parameters)", about(off), l.Usual, l.Computed,
			l.Window))
	}
	found := fmt.Sprintf("%slatencies to %v (p99 of wake-ups)", rates, late)
	if len(unresolved) > 0 {
		found += "; not resolved, by what they may be off: " + strings.Join(unresolved, ", ")
	}
	j.add(level, limit, "%s", found)
}

// about is a share in percent, without digits that nobody knows.
func about(share float64) string {
	if share > 1 {
		return "more than 100 %"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// lateWakeUps is the 99th percentile of wake-ups of the host where it is worst.
func (j *judge) lateWakeUps() units.Time {
	late := j.v.Facts.Lateness.P99
	for i := range j.v.Facts.Hosts {
		late = max(late, j.v.Facts.Hosts[i].Lateness.P99)
	}
	return late
}

// off is by how much of itself a figure may be off where wake-ups are late.
func (f Figure) off(late units.Time, line units.BitsPerSecond) float64 {
	times := rule.Off[f.Of]
	switch {
	case f.Value <= 0:
		return 0
	case f.Of == Goodput:
		return times
	case f.Of == Depth:
		return times * float64(line.BytesIn(late)) / f.Value
	}
	return times * float64(late) / f.Value
}

// usual are the figures that a run is asked for which no bound is about. A mean queue of
// less than two packets is none to speak of.
func usual(v *results.Variant) []Figure {
	l := v.Latencies.Latency
	list := []Figure{
		{"goodput", Goodput, v.Goodput.Gbps}, {"median latency", Median, l.P50}, {"p99 of latency", Tail, l.P99},
	}
	var deepest float64
	for _, q := range v.Queue.Ports {
		deepest = max(deepest, q.Mean)
	}
	if deepest >= 2*float64(v.Fabric.FullFrame()) {
		list = append(list, Figure{"mean queue", Depth, deepest})
	}
	return list
}

// starved is the share of goodput that a receiver may lack since credit loops take longer
// here than their links do, and the protocol's window does not fill them.
func (j *judge) starved() float64 {
	l := j.v.Facts.Loop
	if l == nil || l.Window <= 0 || l.Usual <= 0 {
		return 0
	}
	best := 0.0
	for _, gbps := range j.v.Goodput.Hosts {
		best = max(best, gbps)
	}
	filled := j.v.Fabric.Spec.HostRate.TimeFor(l.Window)
	carries := float64(l.Window) * 8 / float64(l.Usual) // Gbps
	if best < carries/2 {
		return 0
	}
	return max(0, 1-float64(max(filled, l.Computed))/float64(l.Usual))
}
