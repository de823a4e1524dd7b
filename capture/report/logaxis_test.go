package report

import (
	"strings"
	"testing"
)

// A logarithmic axis has no place for 0: a figure with nothing else is drawn all the same.
func TestZerosOnLogarithmicAxes(t *testing.T) {
	for _, shape := range []Shape{Line, Steps, Curve, Marks, Bars} {
		for _, points := range [][]Point{nil, {{X: 0, Y: 0}}, {{X: 0, Y: 0}, {X: 2, Y: 3, High: 40}}, {{X: -1, Y: 5}}} {
			f := Figure{
				Name: "f", Title: "t", X: Axis{Label: "x", Log: shape != Bars}, Y: Axis{Label: "y", Log: true},
				Series: []Series{{Name: "s", Shape: shape, Points: points}},
			}
			if shape == Bars {
				f.Groups = []string{"a", "b", "c"}
			}
			svg, err := f.SVG()
			if err != nil || strings.Contains(string(svg), "NaN") || strings.Contains(string(svg), "Inf") {
				t.Errorf("%s of %v: %v", shape, points, err)
			}
			if g := f.onLog(); !(g.Y.Min > 0 && g.Y.Max > g.Y.Min) {
				t.Errorf("%s of %v: from %v to %v", shape, points, g.Y.Min, g.Y.Max)
			}
		}
	}
}
