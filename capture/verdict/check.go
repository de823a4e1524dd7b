package verdict

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sirdbed/capture/results"
	"sirdbed/emu"
)

// A Check is one question that a run has to answer before it is trusted.
type Check struct {
	Name       string // in results, and of its page
	Asks       string // the question
	How        string // how it is answered, and what the answer means
	Made       Made   // of which runs
	Thresholds []Threshold
	Do         string // what to do when a run does not pass; see Advice for other engines than real

	check func(*judge)
}

// A Threshold is a figure beyond which a run is no longer trusted in full.
type Threshold struct {
	Of    string        // what is compared
	Limit float64       // up to which it passes
	Unit  string        // of Limit: packet times, share, ...; "" for a plain number
	Level results.Level // of a run beyond it
	Why   string        // the limit is there and not elsewhere
}

// share is the unit of what is a part of something: 0.01 is 1 %.
const share = "share"

// level is that of a run in which x was found.
func (t Threshold) level(x float64) results.Level {
	if x > t.Limit {
		return t.Level
	}
	return results.Pass
}

// worst is the worst level that a figure has by several thresholds.
func worst(x float64, list ...Threshold) results.Level {
	level := results.Pass
	for _, t := range list {
		level = level.Worse(t.level(x))
	}
	return level
}

// figure is x in the unit of its thresholds, with three digits, or with as many
// as tell it from every limit.
func figure(x float64, list ...Threshold) string {
	scale := 1.0
	if list[0].Unit == share {
		scale = 100
	}
	text, first := "", 1
	for first < 4 && x != 0 && math.Abs(scale*x) < math.Pow10(2-first) {
		first++
	}
	for digits := first; digits <= 9; digits++ {
		text = strconv.FormatFloat(scale*x, 'f', digits, 64)
		shown, _ := strconv.ParseFloat(text, 64)
		same := func(t Threshold) bool { return x != t.Limit && shown == round9(scale*t.Limit) }
		if !slices.ContainsFunc(list, same) {
			break
		}
	}
	if list[0].Unit == share {
		text += " %"
	}
	return text
}

// round9 takes away what binary fractions add to a limit in percent.
func round9(x float64) float64 { return math.Round(x*1e9) / 1e9 }

// missed names the limits that x is beyond, to go into the parentheses behind a
// figure: "limit 1, INVALID beyond 10"; "" where it passes.
func missed(x float64, list ...Threshold) string {
	var texts []string
	for _, t := range list {
		switch limit := t.number(); {
		case x <= t.Limit:
		case len(texts) == 0:
			texts = append(texts, "limit "+limit)
		default:
			texts = append(texts, fmt.Sprintf("%s beyond %s", t.Level, limit))
		}
	}
	return strings.Join(texts, ", ")
}

// Made says of which runs a check is made.
type Made struct {
	Text string
	of   func(*judge) bool
}

var (
	always    = Made{"every run", func(*judge) bool { return true }}
	withFacts = Made{"every run that left its facts", func(j *judge) bool { return j.v.Facts != nil }}
	finished  = Made{"every run whose hosts all finished", func(j *judge) bool {
		return j.v.Facts != nil && len(j.unfinished()) == 0
	}}
	closed = Made{"every run whose hosts all finished, none of them opaque", func(j *judge) bool {
		return finished.of(j) && !j.v.Experiment.AnyOpaque()
	}}
	onKernel = Made{"runs on the engines real and virtual", func(j *judge) bool {
		return j.v.Facts != nil && j.v.Facts.Engine != emu.Model
	}}
	notModel = Made{"runs on the engines real and virtual, facts or not", func(j *judge) bool {
		return j.v.Facts == nil || j.v.Facts.Engine != emu.Model
	}}
	onVirtual = Made{"runs on the engine virtual", func(j *judge) bool {
		return j.v.Facts != nil && j.v.Facts.Engine == emu.Virtual
	}}
)

// checks is the table of checks, in the order in which they are made and reported.
var checks = []Check{
	run, hosts, facts, files, hostLog, queueLog, captures,
	integrity, fastestMessage, conservation,
	socketDrops, kernelDrops, linkDrops, cables, captureDrops, corruption,
	kernelTimers,
	resolution, peerClocks, wakeUps, generatorLag, stalls, queueSampling, cpuSteal, busiestLoop, liveView,
	linkRate, roundedRates, linkDelays, virtualTime,
	departures, sampledQueues,
}

// Checks returns the table of checks.
func Checks() []Check { return slices.Clone(checks) }

// Page is the help on the check, in paragraphs for a terminal.
func (c *Check) Page() []string {
	page := []string{"Check " + c.Name, "", c.Asks, "", c.How, "", "Applies to: " + c.Made.Text + "."}
	for _, t := range c.Thresholds {
		page = append(page, "", fmt.Sprintf("%s: up to %s, %s beyond. %s", t.Of, t.amount(), t.Level, t.Why))
	}
	if c.Do != "" {
		page = append(page, "", "What to do: "+c.Do)
	}
	for _, engine := range emu.EngineNames {
		if text, ok := adviceOn[engine][c.Name]; ok {
			page = append(page, "", fmt.Sprintf("On %s: %s", engine, text))
		}
	}
	return page
}

// number is the limit without the name of its unit.
func (t Threshold) number() string {
	if t.Unit == share {
		return fmt.Sprintf("%g %%", round9(100*t.Limit))
	}
	return fmt.Sprint(t.Limit)
}

// amount is the limit with its unit, in the singular where it is one.
func (t Threshold) amount() string {
	switch {
	case t.Unit == share || t.Unit == "":
		return t.number()
	case t.Limit == 1:
		return "1 " + strings.TrimSuffix(t.Unit, "s")
	}
	return fmt.Sprintf("%g %s", t.Limit, t.Unit)
}
