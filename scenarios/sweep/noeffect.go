package sweep

import (
	"fmt"
	"slices"
	"strings"
)

// NoEffect is an axis that changes nothing in some places: all points that differ on it alone are of one experiment.
type NoEffect struct {
	Axis       string
	At         []string // the places: on the other axes, by variant and protocol alone where that says it
	Everywhere bool
}

// String says what a reader of the table has to know.
func (n NoEffect) String() string {
	const shown = 3
	where := strings.Join(n.At[:min(shown, len(n.At))], "; ")
	if more := len(n.At) - shown; more > 0 {
		where += fmt.Sprintf("; and %d more", more)
	}
	if n.Everywhere {
		where = "any point"
	}
	return fmt.Sprintf("axis %s changes nothing at %s: what it sets is not used there, or set again", n.Axis, where)
}

// WithoutEffect lists the axes that change nothing somewhere, in the order of axes.
func WithoutEffect(jobs []Job) (list []NoEffect) {
	axes, labels := Axes(jobs)
	for _, axis := range axes {
		if len(labels[axis]) > 1 && axis != VariantAxis && axis != ProtocolAxis {
			if found := effectOf(axis, jobs); len(found.At) > 0 {
				list = append(list, found)
			}
		}
	}
	return list
}

// A spot is a place on all axes but one.
type spot struct {
	at, variant string // the latter: on the axes of variants and protocols alone
	key         string // of the experiment of its first point
	points      int
	differ      bool // its points are of several experiments
}

// effectOf looks for the places where an axis changes nothing.
func effectOf(axis string, jobs []Job) NoEffect {
	var spots []*spot
	index := map[string]*spot{}
	for i := range jobs {
		j := &jobs[i]
		others := slices.DeleteFunc(slices.Clone(j.At), func(c Coordinate) bool { return c.Axis == axis })
		at := place(others)
		s := index[at]
		if s == nil {
			s = &spot{at: at, key: j.Address.Key}
			s.variant = place(slices.DeleteFunc(others, func(c Coordinate) bool {
				return c.Axis != VariantAxis && c.Axis != ProtocolAxis
			}))
			index[at], spots = s, append(spots, s)
		}
		s.points++
		s.differ = s.differ || s.key != j.Address.Key
	}
	found, varies := NoEffect{Axis: axis, Everywhere: true}, map[string]bool{}
	for _, s := range spots {
		if s.differ || s.points < 2 {
			varies[s.variant], found.Everywhere = true, false
		}
	}
	said := map[string]bool{}
	for _, s := range spots {
		if s.differ || s.points < 2 {
			continue
		}
		where := s.at
		if s.variant != "" && !varies[s.variant] {
			where = s.variant
		}
		if !said[where] {
			said[where], found.At = true, append(found.At, where)
		}
	}
	return found
}
