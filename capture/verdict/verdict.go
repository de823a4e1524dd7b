// Package verdict judges the fidelity of a run: whether its figures are those of
// the network, show the machine that they were measured on, or cannot be
// trusted. Everything that it looks at is in the run's results.
package verdict

import (
	"context"
	"fmt"
	"strings"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Limits of the verdict. Lateness is counted in packet times: how long a
// full-size packet takes on the fastest host link. A loop that wakes up a
// packet time late lets at most one packet be late, which is what the store-
// and-forward of one more hop would do.
const (
	latePass      = 1.0  // packet times, p99 of wake-ups
	lateInvalid   = 10.0 // the same
	tailPass      = 10.0 // packet times, p99.9 of wake-ups; beyond is DEGRADED
	generatorPass = 2.0  // packet times, p99 of handing messages over
	generatorBad  = 50.0
	stealPass     = 0.02 // share of CPU time taken by others; beyond is DEGRADED
	busyPass      = 0.90 // share of time that the busiest host's loop worked; beyond is DEGRADED
	sampleShare   = 0.99 // of samples within two packets of the rebuilt queue; below is DEGRADED
	rateSlack     = 0.001
	rateInvalid   = 0.01 // of a port's rate, by rounding
	// Kernel TCP takes a dilation of 10 at most, at which a full packet of 1500 B on
	// a link of 400 Gbps is off by 0.6 ns of 308.
	kernelRateSlack = 0.0025
	exactPass       = 0.1 // packet times, the latest of anything in a virtual kernel; beyond is DEGRADED
	exactInvalid    = 1.0
)

// Judge comes to the verdict on a run. All checks that can be made are made.
func Judge(v *results.Variant) results.Verdict {
	j := judge{v: v, packet: packetTime(v.Fabric)}
	j.completeness()
	j.integrity()
	j.physics()
	if v.Facts != nil {
		if j.lost == 0 {
			j.conservation()
		}
		if v.Facts.Engine != emu.Model {
			j.drops()
			j.timers()
			j.lateness()
			j.machine()
			j.rates()
			j.rounding()
		}
		if v.Facts.Engine == emu.Virtual {
			j.exactness()
		}
	}
	if v.Facts == nil || v.Facts.Engine != emu.Model {
		j.departures()
		j.agreement()
	}
	return j.verdict()
}

// packetTime is the time of a full-size packet on the fastest host link.
func packetTime(f *topo.Fabric) units.Time {
	var fastest units.BitsPerSecond
	for _, h := range f.Hosts {
		fastest = max(fastest, f.Uplink(h).Rate)
	}
	return max(1, fastest.TimeFor(f.FullFrame()))
}

type judge struct {
	v      *results.Variant
	packet units.Time
	lost   int // hosts whose totals are not known
	checks []results.Check
}

func (j *judge) add(name string, level results.Level, limit, format string, args ...any) {
	j.checks = append(j.checks, results.Check{Name: name, Level: level, Found: fmt.Sprintf(format, args...), Limit: limit})
}

func (j *judge) verdict() results.Verdict {
	r := results.Verdict{Level: results.Pass, Checks: j.checks, Reasons: []string{}}
	for _, level := range []results.Level{results.Invalid, results.Degraded} {
		for _, c := range j.checks {
			if c.Level == level {
				r.Level = r.Level.Worse(level)
				r.Reasons = append(r.Reasons, c.Name+": "+c.Found)
			}
		}
	}
	return r
}

// completeness: the run ended in good order and left all its logs.
func (j *judge) completeness() {
	f := j.v.Facts
	if f != nil {
		from, to := j.v.Experiment.Window()
		switch {
		case f.Failure == context.Canceled.Error():
			j.add("run", results.Invalid, "to its end", "it was interrupted at %v of a window from %v to %v", f.Reached, from, to)
		case f.Failure != "":
			j.add("run", results.Invalid, "to its end", "it failed: %s", brief(f.Failure))
		case f.Reached < to:
			j.add("run", results.Invalid, "to its end", "it ended at %v of a window from %v to %v", f.Reached, from, to)
		default:
			j.add("run", results.Pass, "to its end", "it ended at %v", f.Reached)
		}
		var lost []string
		for _, h := range f.Hosts {
			if !h.Finished {
				lost = append(lost, h.Name)
			}
		}
		if j.lost = len(lost); j.lost > 0 {
			j.add("hosts", results.Invalid, "all finish", "%d of %d hosts did not finish: %s", j.lost, len(f.Hosts), shorten(lost))
		}
	}
	for _, k := range []struct {
		kind  results.ProblemKind
		level results.Level
	}{{results.FactsLost, results.Invalid}, {results.HostLogCut, results.Invalid}, {results.QueueLogCut, results.Degraded}, {results.CaptureCut, results.Degraded}} {
		if texts := j.v.ProblemsOf(k.kind); len(texts) > 0 {
			j.add(string(k.kind), k.level, "complete", "%s", shorten(texts))
		}
	}
}

// integrity: every message was delivered once, with the bytes that were sent.
func (j *judge) integrity() {
	const limit = "each message once, each byte as sent"
	if texts := j.v.ProblemsOf(results.Integrity); len(texts) > 0 {
		j.add("integrity", results.Invalid, limit, "%s", shorten(texts))
		return
	}
	if wrong := j.v.Counters["payload_mismatches"]; wrong > 0 {
		j.add("integrity", results.Invalid, limit, "%d packets carried bytes that were not sent", wrong)
		return
	}
	j.add("integrity", results.Pass, limit, "%d messages", len(j.v.Messages))
}

// lateness: loops woke up in time.
func (j *judge) lateness() {
	worst, name := j.v.Facts.Lateness, "all hosts"
	generator, slowest := emu.Lateness{}, ""
	for _, h := range j.v.Facts.Hosts {
		if h.Lateness.Count > 0 && h.Lateness.P99 > worst.P99 {
			worst, name = h.Lateness, h.Name
		}
		if h.Generator.P99 >= generator.P99 && h.Generator.Count > 0 {
			generator, slowest = h.Generator, h.Name
		}
	}
	limit := fmt.Sprintf("p99 %.0f, p99.9 %.0f packet times of %v; INVALID beyond p99 %.0f", latePass, tailPass, j.packet, lateInvalid)
	p99, tail := j.packets(worst.P99), j.packets(worst.P999)
	switch {
	case worst.Count == 0:
		j.add("wake-up lateness", results.Degraded, limit, "it was not measured")
	case p99 > lateInvalid:
		j.add("wake-up lateness", results.Invalid, limit, "p99 %v, %.1f packet times (%s)", worst.P99, p99, name)
	case p99 > latePass || tail > tailPass:
		j.add("wake-up lateness", results.Degraded, limit, "p99 %v, %.1f packet times, p99.9 %v (%s)", worst.P99, p99, worst.P999, name)
	default:
		j.add("wake-up lateness", results.Pass, limit, "p99 %v, %.2f packet times, p99.9 %v", worst.P99, p99, worst.P999)
	}
	if generator.Count > 0 {
		level, lag := results.Pass, j.packets(generator.P99)
		if lag > generatorBad {
			level = results.Invalid
		} else if lag > generatorPass {
			level = results.Degraded
		}
		j.add("generator lag", level, fmt.Sprintf("p99 %.0f packet times; INVALID beyond %.0f", generatorPass, generatorBad),
			"p99 %v, %.2f packet times (%s)", generator.P99, lag, slowest)
	}
	if s := j.v.Facts.SampleLateness; s.Count > 0 && j.v.Experiment.QueueEvery > 0 {
		level := results.Pass
		if s.P99 > j.v.Experiment.QueueEvery {
			level = results.Degraded
		}
		j.add("queue sampling", level, fmt.Sprintf("p99 %v, the interval", j.v.Experiment.QueueEvery), "p99 %v late", s.P99)
	}
}

// exactness: where time stands still while anything runs, nothing is ever late.
// What is shows that some of it spins, or that its clock is not virtual.
func (j *judge) exactness() {
	late, what := j.v.Facts.Lateness.Max, "a wake-up"
	for _, h := range j.v.Facts.Hosts {
		if h.Lateness.Max > late {
			late, what = h.Lateness.Max, "a wake-up of "+h.Name
		}
		if h.Generator.Max > late {
			late, what = h.Generator.Max, "a message of "+h.Name
		}
	}
	if s := j.v.Facts.SampleLateness; s.Max > late {
		late, what = s.Max, "a sample of the queues"
	}
	level, n := results.Pass, j.packets(late)
	switch {
	case n > exactInvalid:
		level = results.Invalid
	case n > exactPass:
		level = results.Degraded
	}
	j.add("virtual time", level, fmt.Sprintf("nothing later than %.1f packet times of %v; INVALID beyond %.0f", exactPass, j.packet, exactInvalid),
		"at most %v late: %s, %.3f packet times", late, what, n)
}

func (j *judge) packets(t units.Time) float64 { return float64(t) / float64(j.packet) }

// machine: there was CPU time to spare.
func (j *judge) machine() {
	for _, c := range []struct {
		name         string
		found, limit float64
		what         string
	}{
		{"CPU steal", j.v.Facts.Steal, stealPass, "of CPU time taken by others"},
		{"busiest loop", j.v.Facts.ThreadCPU, busyPass, "of its time spent working"},
	} {
		level := results.Pass
		if c.found > c.limit {
			level = results.Degraded
		}
		j.add(c.name, level, fmt.Sprintf("%.0f %%", 100*c.limit), "%.1f %% %s", 100*c.found, c.what)
	}
}

// burst is what a port may send at once by the engine's word, in wire bytes:
// bytes as such, or a time of the machine's clock for which it may make good.
func (j *judge) burst(p *topo.Port) units.Bytes {
	if j.v.Facts == nil {
		return 0
	}
	f := &j.v.Facts.Features
	if f.Burst > 0 {
		return f.Burst
	}
	return p.Rate.BytesIn(max(1, j.v.Facts.Dilation).ToNominal(int64(f.BurstTime)))
}

// brief is what of a failure goes into a list of reasons: what failed, and the
// first of its last words.
func brief(failure string) string {
	lines := strings.SplitN(failure, "\n", 3)
	return strings.Join(lines[:min(2, len(lines))], " ")
}

func shorten(texts []string) string {
	const most = 3
	if len(texts) > most {
		return fmt.Sprintf("%s; and %d more", strings.Join(texts[:most], "; "), len(texts)-most)
	}
	return strings.Join(texts, "; ")
}
