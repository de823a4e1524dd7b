package report

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// A Figure is a plot as data: a Page lets its readers explore it, SVG draws it as a
// picture. It has no more points than a picture can show: hundreds a series.
type Figure struct {
	// Name is unique in a page: its file's, without extension, and in the page's address.
	// Letters, digits, '.', '_' and '-'.
	Name    string `json:"name"`
	Title   string `json:"-"` // the page has it in its text
	Caption string `json:"-"`
	// Set is the heading that figures one after another share on a page, Panel what this one has
	// below it in place of Title, and Across how many are beside each other there, 2 or 3.
	// Without Set a figure stands by itself.
	Set    string `json:"-"`
	Panel  string `json:"-"`
	Across int    `json:"-"`

	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Groups []string `json:"groups,omitempty"` // labels along X, of group i at X = i; Bars and Marks have them
	Parts  []string `json:"parts,omitempty"`  // of Bars: what Y and High are, such as p50 and p99
	Series []Series `json:"series"`           // in the order of the legend
	Guides []Guide  `json:"guides,omitempty"`
	Time   *Time    `json:"time,omitempty"` // if X is nominal time, in ms
	// Labeled has the notes of a Curve's points written beside them, as there is room for a
	// dozen or two.
	Labeled bool `json:"labeled,omitempty"`
	// Shares says that Y is the share of what is at most X: a distribution. On a page values are
	// then read at a share.
	Shares bool `json:"shares,omitempty"`
}

// An Axis is one of a figure's two.
type Axis struct {
	Label string `json:"label"` // with the unit: "queue (KB)"
	Log   bool   `json:"log,omitempty"`
	// Min and Max are what is shown at first. Where both are 0 it is what the series need,
	// and 0 if the axis is linear.
	Min float64 `json:"min,omitempty"`
	Max float64 `json:"max,omitempty"`
}

// A Shape is how a series is drawn.
type Shape string

// The shapes of series.
const (
	Line  Shape = "line"  // straight from point to point
	Steps Shape = "steps" // each value until the next: CDFs, what is sampled
	Curve Shape = "curve" // straight, in the given order, with a dot at each point
	Marks Shape = "marks" // crosses, such as printed values beside measured ones
	Bars  Shape = "bars"  // in Figure.Groups: to Y, and from there to High in a lighter shade
)

// A Series is the data of one variant in a figure.
type Series struct {
	// Name is in the legend. On a page all series of a name are shown and hidden together,
	// and so are all of a Protocol ("": of none).
	Name     string
	Protocol string
	Look     int // number of its color and dashes, from 0; the same for a protocol or variant in all figures
	Shape    Shape
	Faint    bool    // behind the others and not in the legend: the samples of an average
	Width    float64 // of the line, in points; 0: 1.6
	Points   []Point
}

// A Point is one of a series, or a bar.
type Point struct {
	X, Y float64
	High float64 // of a bar; less than Y: it has no lighter part
	// Spread is the range of the figures that a dot or a bar's Y is the median of, such as
	// those of several seeds: a thin line from the least to the most. Both 0: there is none.
	Spread [2]float64
	// Hollow marks what is to be read with care: a dot of an unstable run, a bar of few samples.
	Hollow bool
	Note   string // shown on hover: "load 50 %"
}

// A Guide is a dotted line across a figure: at X, or at Y if X is 0. A switch's buffer in a
// CDF of queues is one.
type Guide struct {
	Label string  `json:"label"`
	X     float64 `json:"x,omitempty"`
	Y     float64 `json:"y,omitempty"`
}

// Time is what a figure over time shows beside its series, in ms.
type Time struct {
	From   float64    `json:"from"` // what is measured; the rest is grey
	To     float64    `json:"to"`
	End    float64    `json:"end"`
	Stages []float64  `json:"stages,omitempty"` // marked by their number, from 1
	Faults []FaultRow `json:"faults,omitempty"`
}

// A FaultRow is a row of bars along the lower edge, each as long as a fault of a variant.
type FaultRow struct {
	Look  int          `json:"look"`
	Spans [][2]float64 `json:"spans"`
}

// MarshalJSON writes a series as a page takes it: its points by coordinate, without those
// that are no numbers or continue a step, to as many digits as can be seen.
func (s Series) MarshalJSON() ([]byte, error) {
	row := struct {
		Name     string   `json:"name"`
		Protocol string   `json:"protocol,omitempty"`
		Look     int      `json:"look"`
		Shape    Shape    `json:"shape"`
		Faint    bool     `json:"faint,omitempty"`
		Width    float64  `json:"width,omitempty"`
		X        digits   `json:"x"`
		Y        digits   `json:"y"`
		High     digits   `json:"high,omitempty"`
		Least    digits   `json:"least,omitempty"` // of spreads
		Most     digits   `json:"most,omitempty"`
		Hollow   []int    `json:"hollow,omitempty"` // indexes
		Notes    []string `json:"notes,omitempty"`
	}{Name: s.Name, Protocol: s.Protocol, Look: s.Look, Shape: s.Shape, Faint: s.Faint, Width: s.Width,
		X: digits{}, Y: digits{}}
	noted, spread := false, s.spreads()
	for i, p := range s.Points {
		n := len(row.Y)
		same := s.Shape == Steps && n > 0 && row.Y[n-1] == p.Y && i < len(s.Points)-1
		if same || !finite(p.X) || !finite(p.Y) || !finite(p.High) {
			continue
		}
		if p.Hollow {
			row.Hollow = append(row.Hollow, len(row.X))
		}
		row.X, row.Y, row.Notes = append(row.X, p.X), append(row.Y, p.Y), append(row.Notes, p.Note)
		if s.Shape == Bars {
			row.High = append(row.High, max(p.Y, p.High))
		}
		if spread {
			least, most := p.span()
			row.Least, row.Most = append(row.Least, least), append(row.Most, most)
		}
		noted = noted || p.Note != ""
	}
	if !noted {
		row.Notes = nil
	}
	return json.Marshal(row)
}

// spreads reports whether a point of the series has a spread.
func (s *Series) spreads() bool {
	return slices.ContainsFunc(s.Points, func(p Point) bool { return p.Spread != [2]float64{} })
}

// span is the point's spread, or from Y to Y.
func (p *Point) span() (least, most float64) {
	if p.Spread == [2]float64{} || !finite(p.Spread[0]) || !finite(p.Spread[1]) {
		return p.Y, p.Y
	}
	return p.Spread[0], p.Spread[1]
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// digits are numbers of five digits in JSON.
type digits []float64

func (d digits) MarshalJSON() ([]byte, error) {
	text := []byte{'['}
	for i, x := range d {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendFloat(text, x, 'g', 5, 64)
	}
	return append(text, ']'), nil
}
