package scenarios

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sirdbed/topo/limit"
)

// An Axis is one dimension of a sweep: a parameter and the values that it takes, or
// settings of several parameters with names.
type Axis struct {
	// Name of the axis in tables and plots.
	Axis string `yaml:"axis" json:"axis" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]*$"`
	// Where the values go: a path as of --set, such as sird.sthr or traffic[all].load. seed
	// makes the values repetitions.
	Set string `yaml:"set,omitempty" json:"set,omitempty"`
	// Values in order; FROM..TO/STEP stands for several.
	Values []string `yaml:"values,omitempty" json:"values,omitempty" jsonschema:"oneof_type=string;number"`
	// Instead of set and values: settings with names.
	Options []AxisOption `yaml:"options,omitempty" json:"options,omitempty"`
}

// An AxisOption is a setting of an axis that changes several things at once, or nothing.
type AxisOption struct {
	// Name of the setting in tables and plots.
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]*$"`
	// What is different: PATH=VALUE each, as of --set.
	Set []string `yaml:"set,omitempty" json:"set,omitempty"`
}

// A Setting is one place on an axis.
type Setting struct {
	Label   string
	Changes []Change
}

// SeedPath is the path of an axis whose settings are repetitions.
const SeedPath = "seed"

// ParseAxis reads an axis of a command line: [NAME:]PATH=VALUES, where VALUES are separated
// by commas, and FROM..TO/STEP stands for several. The name is the last part of the path
// unless it is given.
func ParseAxis(text string) (Axis, error) {
	fail := func(format string, args ...any) (Axis, error) {
		return Axis{}, fmt.Errorf("--over %s: %s", shortened(text), fmt.Sprintf(format, args...))
	}
	path, values, ok := strings.Cut(text, "=")
	name, rest, named := strings.Cut(path, ":")
	if named {
		path = rest
	} else {
		list := steps(path)
		if len(list) > 0 {
			name = list[len(list)-1]
		}
	}
	if !ok || path == "" || values == "" {
		return fail("want PATH=VALUES, such as sird.sthr=0.5,1,inf or traffic[all].load=0.1..0.9/0.1")
	}
	if !nameOf.MatchString(name) {
		return fail("%q is no name for an axis: put one before the path, such as load:%s", name, path)
	}
	a := Axis{Axis: name, Set: path, Values: splitValues(values)}
	if _, err := a.Settings(); err != nil {
		return fail("%v", err)
	}
	return a, nil
}

var nameOf = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// splitValues cuts a text at the commas that are not in brackets.
func splitValues(text string) (list []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 0 {
				list, from = append(list, text[from:i]), i+1
			}
		}
	}
	return append(list, text[from:])
}

// Settings lists the places on the axis, in order.
func (a *Axis) Settings() (list []Setting, err error) {
	switch {
	case len(a.Options) > 0 && (a.Set != "" || len(a.Values) > 0):
		return nil, fmt.Errorf("it has options, and set or values: one of the two")
	case len(a.Options) == 0 && (a.Set == "" || len(a.Values) == 0):
		return nil, fmt.Errorf("it needs set and values, or options")
	}
	for _, o := range a.Options {
		s := Setting{Label: o.Name}
		for _, text := range o.Set {
			c, err := ParseChange(text)
			if err != nil {
				return nil, fmt.Errorf("option %s: %w", o.Name, err)
			}
			s.Changes = append(s.Changes, c)
		}
		list = append(list, s)
	}
	for _, text := range a.Values {
		values, err := spread(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			list = append(list, Setting{v, []Change{{a.Set, v}}})
		}
		if len(list) > limit.MaxPoints {
			return nil, fmt.Errorf("more than %d values", limit.MaxPoints)
		}
	}
	seen := map[string]bool{}
	for i := range list {
		label := list[i].Label
		if label == "" {
			return nil, fmt.Errorf("a value is empty")
		}
		if seen[sameAs(label)] {
			return nil, fmt.Errorf("%s is there twice", label)
		}
		seen[sameAs(label)] = true
	}
	return list, nil
}

const (
	aNumber = `(-?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)`
	aUnit   = `([A-Za-z%]*)`
)

var (
	aRange = regexp.MustCompile(`^` + aNumber + aUnit + `\.\.` + aNumber + aUnit + `(?:/` + aNumber + aUnit + `)?$`)
	aValue = regexp.MustCompile(`^` + aNumber + aUnit + `$`)
)

// exactWhole is up to where a float64 has all whole numbers.
const exactWhole = 1 << 53

// spread makes values of FROM..TO/STEP, with a unit or without. Anything else is itself.
func spread(text string) ([]string, error) {
	m := aRange.FindStringSubmatch(text)
	if m == nil {
		return []string{text}, nil
	}
	whole := m[5] == ""
	if whole {
		m[5], m[6] = "1", m[4]
	}
	if m[2] == "" {
		m[2] = m[4]
	}
	if m[2] != m[4] || m[4] != m[6] {
		return nil, fmt.Errorf("%s: want the same unit at both ends and for the step", shortened(text))
	}
	from, err1 := strconv.ParseFloat(m[1], 64)
	to, err2 := strconv.ParseFloat(m[3], 64)
	step, err3 := strconv.ParseFloat(m[5], 64)
	if err1 != nil || err2 != nil || err3 != nil || step <= 0 || to < from {
		return nil, fmt.Errorf("%s: want FROM..TO/STEP, with FROM up to TO and a step above 0", shortened(text))
	}
	if whole && (from != math.Trunc(from) || to != math.Trunc(to)) {
		return nil, fmt.Errorf("%s: want a step behind it, such as %[1]s/0.1: only whole numbers go without",
			shortened(text))
	}
	steps := (to - from) / step
	if steps >= limit.MaxPoints {
		return nil, fmt.Errorf("%s: more than %d values", shortened(text), limit.MaxPoints)
	}
	var list []string
	for i := range int(steps+1e-9) + 1 {
		x := from + float64(i)*step
		// Sums of binary fractions are not as round as their parts.
		v := strconv.FormatFloat(x, 'g', 12, 64)
		if x == math.Trunc(x) && math.Abs(x) <= exactWhole {
			v = strconv.FormatFloat(x, 'f', -1, 64)
		}
		list = append(list, v+m[4])
	}
	return list, nil
}

// sameAs is a value in a form that all ways to write its number share.
func sameAs(value string) string {
	m := aValue.FindStringSubmatch(value)
	if m == nil {
		return value
	}
	x, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return value
	}
	return strconv.FormatFloat(x, 'g', -1, 64) + m[2]
}

// validateSweep checks the axes of a scenario file.
func (s *Scenario) validateSweep() *Error {
	for i := range s.Sweep {
		a, at := &s.Sweep[i], fmt.Sprintf("sweep[%d]", i)
		if !nameOf.MatchString(a.Axis) {
			return s.src.errorIn(at+".axis", "want a name of small letters, digits, '.', '-' and '_'")
		}
		if slices.ContainsFunc(s.Sweep[:i], func(b Axis) bool { return b.Axis == a.Axis }) {
			return s.src.errorIn(at+".axis", "two axes are called %s", a.Axis)
		}
		if _, err := a.Settings(); err != nil {
			return s.src.errorIn(at, "axis %s: %v", a.Axis, err)
		}
	}
	return nil
}
