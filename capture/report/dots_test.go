package report

import (
	"bytes"
	"testing"
)

// A picture writes notes beside dots only where it is told to, and the last of those that
// would cover each other.
func TestLabelsOfDots(t *testing.T) {
	figure := Figure{Title: "frontier", Series: []Series{{Name: "homa", Shape: Curve, Points: []Point{
		{X: 0, Y: 0, Note: "first"}, {X: 9.99, Y: 9.99, Note: "covered"}, {X: 10, Y: 10, Note: "last"},
	}}}}
	for labeled, want := range map[bool][3]bool{false: {}, true: {true, false, true}} {
		figure.Labeled = labeled
		svg, err := figure.SVG()
		if err != nil {
			t.Fatal(err)
		}
		for i, note := range []string{"first", "covered", "last"} {
			if found := bytes.Contains(svg, []byte(">"+note+"<")); found != want[i] {
				t.Errorf("labeled %v: note %q is there: %v", labeled, note, found)
			}
		}
	}
}
