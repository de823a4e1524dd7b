// Package verdict judges the fidelity of a run: whether its figures are those of
// the network, show the machine that they were measured on, or cannot be
// trusted. Everything that it looks at is in the run's results.
//
// Each check has a file of its own, with what it asks, its thresholds and their
// reasons, and the help on it. To add a check, write one and put it into the
// table in check.go.
package verdict

import (
	"fmt"
	"slices"
	"strings"

	"sirdbed/capture/results"
	"sirdbed/topo/units"
)

// Judge comes to the verdict on a run, of which some figures are asked for; none: those
// that every run has. All checks that can be made are made.
func Judge(v *results.Variant, asked ...Figure) results.Verdict {
	j := judge{v: v, asked: asked, packet: v.Fabric.LeastPacketTime()}
	for i := range checks {
		c := &checks[i]
		if c.Made.of(&j) {
			j.name = c.Name
			c.check(&j)
		}
	}
	return j.verdict()
}

// A judge makes the checks of one run, one after the other.
type judge struct {
	v      *results.Variant
	asked  []Figure
	packet units.Time // how long a full-size packet takes on the fastest host link
	name   string     // of the check that is being made
	made   []results.Check
}

// add notes the outcome of the check that is being made. limit is when it passes,
// in words; format and args describe what was found.
func (j *judge) add(level results.Level, limit, format string, args ...any) {
	found := fmt.Sprintf(format, args...)
	j.made = append(j.made, results.Check{Name: j.name, Level: level, Found: found, Limit: limit})
}

func (j *judge) verdict() results.Verdict {
	r := results.Verdict{Level: results.Pass, Checks: j.made, Reasons: []string{}}
	for _, level := range []results.Level{results.Invalid, results.Degraded} {
		for _, c := range j.made {
			if c.Level == level {
				r.Level = r.Level.Worse(level)
				r.Reasons = append(r.Reasons, c.Name+": "+c.Found)
			}
		}
	}
	return r
}

// hasTraffic reports whether hosts had anything to send: a run may be of programs alone.
func (j *judge) hasTraffic() bool {
	return len(j.v.Experiment.Streams) > 0 || len(j.v.Experiment.Apps) == 0
}

// packets is a time in packet times.
func (j *judge) packets(t units.Time) float64 { return float64(t) / float64(j.packet) }

// kernel reports whether the hosts' packets were their kernel's.
func (j *judge) kernel() bool { return len(j.v.Facts.Hosts) > 0 && j.v.Facts.Hosts[0].Kernel }

// where puts what belongs to a figure behind it in parentheses, if it is anything:
// where it was found, and the limit that it missed.
func where(notes ...string) string {
	notes = slices.DeleteFunc(notes, func(note string) bool { return note == "" })
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, "; ") + ")"
}

// shorten joins texts, the first few in full.
func shorten(texts []string) string {
	const most = 3
	if len(texts) > most {
		return fmt.Sprintf("%s; and %d more", strings.Join(texts[:most], "; "), len(texts)-most)
	}
	return strings.Join(texts, "; ")
}
