package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sirdbed/scenarios/sweep"
)

// check refuses axes that the grid does not have, and chooses those that are not given: x is
// the first that has numbers, by the protocol.
func (t *sweepTable) check() error {
	axes, labels := sweep.Axes(t.jobs)
	axes = slices.DeleteFunc(axes, func(a string) bool { return a == sweep.SeedAxis })
	for _, given := range []struct{ flag, axis string }{{"--by", t.by}, {"--x", t.x}} {
		switch {
		case given.axis == "" || slices.Contains(axes, given.axis):
		case given.axis == sweep.SeedAxis:
			return fmt.Errorf("%s %s: seeds are repetitions: figures are their medians", given.flag, given.axis)
		default:
			return fmt.Errorf("%s %s: the grid has no such axis: it has %s", given.flag, given.axis,
				cmp.Or(strings.Join(axes, ", "), "none"))
		}
	}
	if t.x != "" && t.x == t.by {
		return fmt.Errorf("--x and --by are both %s: want two axes", t.x)
	}
	t.across, t.series = t.x, t.by
	free := func(a string) bool { return a != t.across && a != t.series && len(labels[a]) > 1 }
	choose := func(of func(string) bool) string {
		for _, a := range axes {
			if free(a) && of(a) {
				return a
			}
		}
		return ""
	}
	own := func(a string) bool { return a == sweep.VariantAxis || a == sweep.ProtocolAxis }
	anything := func(string) bool { return true }
	for _, of := range []func(string) bool{
		func(a string) bool { _, ok := numbersOf(labels[a]); return ok && !own(a) },
		func(a string) bool { return !own(a) }, anything,
	} {
		if t.across == "" {
			t.across = choose(of)
		}
	}
	for _, of := range []func(string) bool{
		func(a string) bool { return a == sweep.ProtocolAxis }, own, anything,
	} {
		if t.series == "" {
			t.series = choose(of)
		}
	}
	return nil
}

// panels lists the axes that are neither along a figure nor its series: a figure has one
// place on them.
func (t *sweepTable) panels() []string {
	return slices.DeleteFunc(t.axes(), func(a string) bool { return a == t.across || a == t.series })
}

// axisNumbers are the labels of an axis as numbers.
type axisNumbers struct {
	of   map[string]float64 // by label
	unit string             // of them all; "": none
}

// numberWithUnit is a number with a unit, as scenarios have them.
var numberWithUnit = regexp.MustCompile(`^([0-9.]+(?:e[-+]?[0-9]+)?)([A-Za-z]*)$`)

// unitKinds are the units that labels of one axis may have together, from small to large.
var unitKinds = [][]string{
	{"ns", "us", "ms", "s"}, {"B", "KB", "MB", "GB"}, {"bps", "Kbps", "Mbps", "Gbps", "Tbps"},
}

// numbersOf reads labels as numbers, in the unit of the first. ok: all of them are.
func numbersOf(labels []string) (n axisNumbers, ok bool) {
	n.of = map[string]float64{}
	first := ""
	for i, label := range labels {
		m := numberWithUnit.FindStringSubmatch(label)
		if m == nil {
			return n, false
		}
		x, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return n, false
		}
		if i == 0 {
			first = m[2]
		}
		factor, ok := unitFactor(m[2], first)
		if !ok {
			return n, false
		}
		n.of[label] = x * factor
	}
	n.unit = first
	return n, len(labels) > 0
}

// unitFactor is how many of a unit another is.
func unitFactor(unit, of string) (float64, bool) {
	if unit == of {
		return 1, true
	}
	for _, kind := range unitKinds {
		a, b := slices.Index(kind, unit), slices.Index(kind, of)
		if a < 0 || b < 0 {
			continue
		}
		factor := 1.0
		for ; a > b; a-- {
			factor *= 1000
		}
		for ; a < b; a++ {
			factor /= 1000
		}
		return factor, true
	}
	return 0, false
}
