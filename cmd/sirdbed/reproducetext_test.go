package main

import (
	"bytes"
	"testing"

	"sirdbed/capture/report"
)

// Figures are under the paper's numbers; what several in a row say alike is said once.
func TestFiguresOfResultsText(t *testing.T) {
	var b bytes.Buffer
	writeFigures(&b, []report.Figure{
		{Name: "fig2", Title: "Two", Caption: "One alone."},
		{Name: "fig6-a", Title: "A", Caption: "Same."}, {Name: "fig6-b", Title: "B", Caption: "Same."},
		{Name: "fig6-c", Title: "C", Caption: "Other."}, {Name: "fig13-a", Title: "D", Caption: "Other."},
	})
	const want = `
## Figures

### Figure 2

![Two](plots/fig2.svg)

One alone.

### Figure 6

![A](plots/fig6-a.svg)

![B](plots/fig6-b.svg)

Same.

![C](plots/fig6-c.svg)

Other.

### Figure 13

![D](plots/fig13-a.svg)

Other.
`
	if b.String() != want {
		t.Errorf("got %s", b.String())
	}
}
