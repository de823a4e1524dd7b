package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The colors of Okabe and Ito, which people with any color vision tell
// apart, the clearest first, and a brown. Dashes tell lines apart on paper.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	{0x00, 0x9e, 0x73, 0xff}, // green
	{0xcc, 0x79, 0xa7, 0xff}, // purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky
	{0x33, 0x33, 0x33, 0xff}, // black
	{0x8c, 0x6d, 0x31, 0xff}, // brown
}

var dashes = [][]vg.Length{
	nil, {vg.Points(5), vg.Points(2)}, {vg.Points(1.5), vg.Points(1.5)},
	{vg.Points(6), vg.Points(2), vg.Points(1.5), vg.Points(2)},
}

var (
	ink  = color.RGBA{0x22, 0x22, 0x22, 0xff}
	grid = color.RGBA{0xe4, 0xe4, 0xe4, 0xff}
)

func colorOf(i int) color.RGBA { return palette[i%len(palette)] }

// faint is a color mixed with white, for what lies behind.
func faint(c color.RGBA) color.RGBA {
	mix := func(x uint8) uint8 { return uint8((int(x) + 3*255) / 4) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), 0xff}
}

// line is the style of line i.
func line(i int) draw.LineStyle {
	return draw.LineStyle{Color: colorOf(i), Width: vg.Points(1.6), Dashes: dashesOf(i)}
}

func dashesOf(i int) []vg.Length { return dashes[i/2%len(dashes)] }

// thin is the width in points of lines that are dense.
const thin = 0.8

// Size of a figure: two fit side by side on a page.
const (
	width  = 4.6 * vg.Inch
	height = 2.9 * vg.Inch
)

// A chart is a plot with its title and, in a row below it where it hides no
// line, its legend.
type chart struct {
	*plot.Plot
	title   string
	x, y    string // labels
	entries []entry
}

type entry struct {
	name string
	draw.LineStyle
	bar  bool // of look
	look int
}

var houseFont = font.Font{Typeface: "Liberation", Variant: "Sans"}

// newChart is an empty chart in the house style.
func newChart(title, x, y string) *chart {
	plot.DefaultFont = houseFont
	p := plot.New()
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Tick.Label.Font.Size = vg.Points(9)
		a.LineStyle.Width, a.LineStyle.Color = vg.Points(0.6), ink
		a.Tick.LineStyle.Width, a.Tick.LineStyle.Color = vg.Points(0.6), ink
		a.Tick.Length = vg.Points(4)
		a.Tick.Marker = ticks{}
		a.Padding = 0
	}
	return &chart{Plot: p, title: title, x: x, y: y}
}

// legend adds an entry for a line, the first of its name.
func (c *chart) legend(name string, style draw.LineStyle) {
	if slices.ContainsFunc(c.entries, func(e entry) bool { return e.name == name }) {
		return
	}
	c.entries = append(c.entries, entry{name: name, LineStyle: style})
}

// legendOfBar adds an entry for bars of a look.
func (c *chart) legendOfBar(name string, look int) {
	style := draw.LineStyle{Color: colorOf(look), Width: vg.Points(7)}
	c.entries = append(c.entries, entry{name: name, LineStyle: style, bar: true, look: look})
}

// ticks puts about six labeled ticks on a linear axis, at round numbers, as
// readers write them: 2500, not 2.5e+03.
type ticks struct{}

func (ticks) Ticks(low, high float64) (list []plot.Tick) {
	if !(high > low) {
		return []plot.Tick{{Value: low, Label: number(low)}}
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/5)))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if (high-low)/(step*m) <= 6.5 {
			step *= m
			break
		}
	}
	for i := math.Ceil(low/step - 1e-9); i*step <= high+1e-9*step; i++ {
		list = append(list, plot.Tick{Value: i * step, Label: strconv.FormatFloat(round(i*step, step), 'f', -1, 64)})
	}
	return list
}

// round takes away what binary fractions add to a multiple of step.
func round(x, step float64) float64 {
	digits := max(0, 2-math.Floor(math.Log10(step)))
	scale := math.Pow(10, digits)
	if x = math.Round(x*scale) / scale; x == 0 {
		return 0 // not the negative one
	}
	return x
}

// logTicks labels powers of ten, and 2 and 5 of each where there are few.
type logTicks struct{}

func (logTicks) Ticks(low, high float64) (list []plot.Tick) {
	if !(low > 0) || math.IsInf(high, 0) {
		return nil
	}
	decades := math.Log10(high / low)
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, e)
			if v < low*(1-1e-9) || v > high*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: v}
			if m == 1 || (decades < 2.5 && (m == 2 || m == 5)) {
				t.Label = strconv.FormatFloat(round(v, v), 'f', -1, 64)
			}
			list = append(list, t)
		}
	}
	return list
}

// Heights of what is above the axes, in points, and of a legend's entry.
const (
	titleHeight  = 16
	legendHeight = 14
	stageHeight  = 10 // numbers of stages
	dashWidth    = 17
	entryGap     = 9
	labelHeight  = 14 // of an axis's label
)

// svg draws a chart. Its legend may have two rows; each further one makes it
// higher. Families behind Liberation Sans are of the same width.
func (c *chart) svg(w, h vg.Length) ([]byte, error) {
	style := draw.TextStyle{Color: ink, Font: font.From(houseFont, vg.Points(10)), Handler: plot.DefaultTextHandler}
	title := style
	title.Font = font.From(houseFont, vg.Points(11))
	title.YAlign = draw.YTop
	places, rows := c.layLegend(style, w)
	out := vgsvg.New(w, h+vg.Points(float64(max(0, rows-2))*legendHeight))
	area := draw.New(out)
	area.FillText(title, vg.Point{X: area.Min.X + 2, Y: area.Max.Y - 2}, c.title)
	c.drawLegend(area, style, places)
	above := vg.Points(titleHeight + float64(rows)*legendHeight + stageHeight)
	axes := draw.Crop(area, labelRoom(c.y), -vg.Points(8), labelRoom(c.x), -above)
	c.Plot.Draw(axes)
	plotted := c.Plot.DataCanvas(axes)
	c.drawLabels(area, plotted.Center(), style)
	var buf bytes.Buffer
	if _, err := out.WriteTo(&buf); err != nil {
		return nil, fmt.Errorf("plot %q: %w", c.title, err)
	}
	text := strings.ReplaceAll(buf.String(), "font-family:Liberation Sans",
		"font-family:Liberation Sans,Arial,Helvetica,sans-serif")
	return []byte(text), nil
}

// labelRoom is how much of the picture's edge an axis's label takes.
func labelRoom(label string) vg.Length {
	if label == "" {
		return 0
	}
	return vg.Points(labelHeight)
}

// drawLabels writes what the axes are at the edges, in the middle of what is plotted. The
// plot could do so, but takes the middle of a logarithmic axis to be near its end, and
// leaves room for half a label beyond it.
func (c *chart) drawLabels(area draw.Canvas, middle vg.Point, style draw.TextStyle) {
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	area.FillText(style, vg.Point{X: middle.X, Y: area.Min.Y + 2}, c.x)
	style.Rotation, style.YAlign = math.Pi/2, draw.YTop
	area.FillText(style, vg.Point{X: area.Min.X, Y: middle.Y}, c.y)
}

// layLegend places the entries from left to right, in as many rows as it takes:
// points to the right of and below the title's lower left.
func (c *chart) layLegend(style draw.TextStyle, width vg.Length) (places []vg.Point, rows int) {
	style.Font = font.From(houseFont, vg.Points(9))
	x := vg.Length(2)
	for _, e := range c.entries {
		need := vg.Points(dashWidth+4) + style.Width(e.name)
		if rows == 0 || x+need > width {
			x = 2
			rows++
		}
		places = append(places, vg.Point{X: x, Y: vg.Points(float64(rows)*legendHeight - legendHeight/2)})
		x += need + vg.Points(entryGap)
	}
	return places, rows
}

func (c *chart) drawLegend(area draw.Canvas, style draw.TextStyle, places []vg.Point) {
	style.Font = font.From(houseFont, vg.Points(9))
	style.YAlign = draw.YCenter
	for i, e := range c.entries {
		x, y := area.Min.X+places[i].X, area.Max.Y-vg.Points(titleHeight)-places[i].Y
		area.StrokeLine2(e.LineStyle, x, y, x+vg.Points(dashWidth), y)
		if e.bar {
			stripe(area, e.look, e.Width, x, y, x+vg.Points(dashWidth), y)
		}
		area.FillText(style, vg.Point{X: x + vg.Points(dashWidth+4), Y: y}, e.name)
	}
}
