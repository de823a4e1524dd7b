package report

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// failures are the timelines of faults in a plot over time: along its lower edge a row of
// bars for each variant that has one, in the variant's color, each as long as its fault.
type failures struct{ rows []failureRow }

type failureRow struct {
	look  int
	spans [][2]float64 // in ms
}

// failures are those of the variants drawn. Variants with the same timeline share a row.
func (d *drawing) failures() *failures {
	f := &failures{}
	seen := map[string]bool{}
	for i, v := range d.variants {
		row, text := failureRow{look: d.look(i)}, ""
		for k := range v.Experiment.Timeline {
			e := &v.Experiment.Timeline[k]
			row.spans = append(row.spans, [2]float64{e.At.Milliseconds(), min(e.End(), v.End).Milliseconds()})
			text += e.String() + "\n"
		}
		if len(row.spans) > 0 && !seen[text] {
			seen[text] = true
			f.rows = append(f.rows, row)
		}
	}
	return f
}

// noteFailures is what a caption says of them.
func (d *drawing) noteFailures() string {
	if len(d.failures().rows) == 0 {
		return ""
	}
	return " Bars along the lower edge: faults."
}

// failureBar is how high a bar is, with the gap to the next row.
const failureBar = 4

// Plot implements plot.Plotter.
func (f *failures) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for i, row := range f.rows {
		y := c.Min.Y + vg.Points(failureBar*(float64(i)+0.5))
		style := draw.LineStyle{Color: colorOf(row.look), Width: vg.Points(failureBar - 1)}
		for _, span := range row.spans {
			from, to := max(x(span[0]), c.Min.X), min(x(span[1]), c.Max.X)
			c.StrokeLine2(style, from, y, max(to, from+vg.Points(1)), y) // a moment is seen too
		}
	}
}
