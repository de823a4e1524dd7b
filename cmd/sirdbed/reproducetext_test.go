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
		{Name: "fig2", Set: "Figure 2. Two", Title: "Two", Caption: "One alone."},
		{Name: "fig6-a", Set: "Figure 6. Six", Title: "A", Caption: "Same."},
		{Name: "fig6-b", Set: "Figure 6. Six", Title: "B", Caption: "Same. More."},
		{Name: "fig13-a", Set: "Figure 13. Last", Title: "D", Caption: "Same."},
	})
	const want = `
## Figures

### Figure 2. Two

One alone.

![Two](plots/fig2.svg)

### Figure 6. Six

Same.

![A](plots/fig6-a.svg)

![B](plots/fig6-b.svg)

More.

### Figure 13. Last

Same.

![D](plots/fig13-a.svg)
`
	if b.String() != want {
		t.Errorf("got %s", b.String())
	}
}
