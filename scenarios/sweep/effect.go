package sweep

import (
	"fmt"
	"slices"
	"strings"
)

// An Idle is an axis that changes nothing in some places: points that differ on it alone are of one experiment.
type Idle struct {
	Axis       string
	At         []string // the places: on the other axes, by variant and protocol alone where that says it
	Everywhere bool
}

// String says what a reader of the table has to know.
func (i Idle) String() string {
	const shown = 3
	where := strings.Join(i.At[:min(shown, len(i.At))], "; ")
	if more := len(i.At) - shown; more > 0 {
		where += fmt.Sprintf("; and %d more", more)
	}
	if i.Everywhere {
		where = "any point"
	}
	return fmt.Sprintf("axis %s changes nothing at %s: what it sets is not used there, or set again", i.Axis, where)
}

// Idles lists the axes that change nothing somewhere, in the order of axes.
func Idles(jobs []Job) (list []Idle) {
	axes, labels := Axes(jobs)
	for _, axis := range axes {
		if len(labels[axis]) < 2 || axis == VariantAxis || axis == ProtocolAxis {
			continue
		}
		var order []string             // of the places on the other axes
		keys := map[string][]string{}  // of the experiments at each
		program := map[string]string{} // its variant and protocol
		varies := map[string]bool{}    // by variant and protocol: the axis has an effect at one of its places
		for i := range jobs {
			j := &jobs[i]
			others := slices.DeleteFunc(slices.Clone(j.At), func(c Coordinate) bool { return c.Axis == axis })
			at := place(others)
			if keys[at] == nil {
				order = append(order, at)
			}
			keys[at] = append(keys[at], j.Address.Key)
			program[at] = place(slices.DeleteFunc(others, func(c Coordinate) bool {
				return c.Axis != VariantAxis && c.Axis != ProtocolAxis
			}))
		}
		idle := func(at string) bool {
			first := keys[at][0]
			return len(keys[at]) > 1 && !slices.ContainsFunc(keys[at], func(k string) bool { return k != first })
		}
		found := Idle{Axis: axis, Everywhere: true}
		for _, at := range order {
			if !idle(at) {
				varies[program[at]], found.Everywhere = true, false
			}
		}
		for _, at := range order {
			where := at
			if !varies[program[at]] && program[at] != "" {
				where = program[at]
			}
			if idle(at) && !slices.Contains(found.At, where) {
				found.At = append(found.At, where)
			}
		}
		if len(found.At) > 0 {
			list = append(list, found)
		}
	}
	return list
}
