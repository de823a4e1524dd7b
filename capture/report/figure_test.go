package report

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A series goes to the page without points that no axis has, and steps without what goes on.
func TestSeriesAsJSON(t *testing.T) {
	for want, s := range map[string]Series{
		`{"name":"a","look":0,"shape":"line","x":[1,4],"y":[2,0.33333]}`: {Name: "a", Shape: Line,
			Points: []Point{{X: 1, Y: 2}, {X: 2, Y: math.NaN()}, {X: math.Inf(1), Y: 1}, {X: 4, Y: 1. / 3}}},
		`{"name":"\u003cb","protocol":"p","look":1,"shape":"steps","x":[0,3,5],"y":[7,8,8]}`: {
			Name: "<b", Protocol: "p", Look: 1, Shape: Steps,
			Points: []Point{{X: 0, Y: 7}, {X: 1, Y: 7}, {X: 3, Y: 8}, {X: 4, Y: 8}, {X: 5, Y: 8}}},
		`{"name":"c","look":0,"shape":"bars","x":[0,1],"y":[1,2],"high":[3,2],"hollow":[1],"notes":["","few"]}`: {
			Name: "c", Shape: Bars,
			Points: []Point{{X: 0, Y: 1, High: 3}, {X: 1, Y: 2, Hollow: true, Note: "few"}}},
		`{"name":"e","look":0,"shape":"curve","x":[1,2],"y":[5,6],"least":[4,6],"most":[9,6]}`: {
			Name: "e", Shape: Curve, Points: []Point{{X: 1, Y: 5, Spread: [2]float64{4, 9}}, {X: 2, Y: 6}}},
		`{"name":"d","look":0,"shape":"marks","x":[],"y":[]}`: {Name: "d", Shape: Marks},
	} {
		got, err := json.Marshal(s)
		must(t, err)
		if string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Every shape has a picture, marks beside a curve too.
func TestShapesHavePictures(t *testing.T) {
	points := []Point{{X: 1, Y: 1, High: 2}, {X: 2, Y: 3, High: 4, Hollow: true}}
	curve := []Series{{Name: "measured", Shape: Curve, Points: points}}
	length := func(list []Series) int {
		f := Figure{Name: "f", Title: "t", Y: Axis{Label: "y", Log: true, Min: 0.5, Max: 8}, Series: list}
		svg, err := f.SVG()
		must(t, err)
		if text := string(svg); strings.Contains(text, "NaN") || !strings.Contains(text, ">measured<") {
			t.Errorf("%s", text)
		}
		return len(svg)
	}
	alone := length(curve)
	for _, shape := range []Shape{Curve, Bars} {
		plain := Series{Name: "measured", Shape: shape, Points: points}
		spread := Series{Name: "measured", Shape: shape, Points: []Point{
			{X: 1, Y: 1, High: 2, Spread: [2]float64{0, 1.5}}, {X: 2, Y: 3, High: 4, Hollow: true},
		}}
		if a, b := length([]Series{plain}), length([]Series{spread}); b < a+100 {
			t.Errorf("a spread adds %d bytes to %s", b-a, shape)
		}
	}
	f := Figure{Series: curve}
	f.Guides = []Guide{{Label: "at X", X: 1.5}, {Label: "at Y", Y: 2}, {Label: "outside", Y: 50}}
	svg, err := f.SVG()
	must(t, err)
	for label, there := range map[string]bool{">at X<": true, ">at Y<": true, ">outside<": false} {
		if strings.Contains(string(svg), label) != there {
			t.Errorf("guide %s: drawn %v, want %v", label, !there, there)
		}
	}
	for _, shape := range []Shape{Line, Steps, Marks, Bars} {
		more := Series{Name: "printed", Look: 1, Shape: shape, Points: points}
		if n := length(append(curve[:1:1], more)); n < alone+100 {
			t.Errorf("%s adds %d bytes to the picture", shape, n-alone)
		}
	}
}

// Bars are drawn from 0 to their height where the axis says nothing else: twice as high,
// twice as long.
func TestBarsHaveTheirHeights(t *testing.T) {
	f := Figure{Name: "f", Groups: []string{"a", "b"},
		Series: []Series{{Shape: Bars, Points: []Point{{Y: 100}, {X: 1, Y: 50}}}}}
	svg, err := f.SVG()
	must(t, err)
	var heights []float64
	bar := regexp.MustCompile(`d="M(\S+),(\S+)L\S+,\S+L\S+,(\S+)L\S+" style="fill:#0072B2"`)
	for _, m := range bar.FindAllStringSubmatch(string(svg), -1) {
		low, _ := strconv.ParseFloat(m[2], 64)
		high, _ := strconv.ParseFloat(m[3], 64)
		if h := math.Abs(high - low); h > 1 {
			heights = append(heights, h)
		}
	}
	if len(heights) != 2 || math.Abs(heights[0]/heights[1]-2) > 0.02 {
		t.Errorf("heights %v, want two, the first twice the second, in\n%s", heights, svg)
	}
}

// Names of figures are in the page's address and in its selectors.
func TestPageRefusesNames(t *testing.T) {
	for _, names := range [][]string{{""}, {"a", "a"}, {`a"b`}, {"a b"}, {"a:b"}} {
		p := &Page{Title: "t"}
		for _, name := range names {
			p.Figures = append(p.Figures, Figure{Name: name})
		}
		if _, err := p.HTML(); err == nil {
			t.Errorf("names %q: no error", names)
		}
	}
}
