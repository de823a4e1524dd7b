package report

import (
	"strings"
	"testing"
)

// Grids are matched by place and metric. Seeds have medians, and what is beyond the limit is
// not held against results whose seeds overlap.
func TestGridsSideBySide(t *testing.T) {
	at := func(place string, seeds ...float64) GridFigure {
		return GridFigure{Place: "load=0.5 " + place, Metric: "goodput", Group: "load=0.5", One: place,
			Value: MedianOf(seeds, 0)}
	}
	unstable := at("u")
	unstable.Value.Unstable = true
	limit := 0.05
	for _, c := range []struct {
		name          string
		first, second GridFigure
		want          standing
		row           string
	}{
		{"the same", at("a", 10), at("a", 10), near, "10.00 10.00 0 0.0 % ok"},
		{"beyond", at("a", 10), at("a", 12), beyond, "+2.00 +20.0 % FAIL"},
		{"seeds overlap", at("a", 9, 13, 10), at("a", 11, 12, 11.5), byChance, "+15.0 % 40 % seeds"},
		{"seeds apart", at("a", 9, 10), at("a", 11, 12), beyond, "FAIL"},
		{"one unstable", at("u", 10), unstable, beyond, "unst"},
		{"both unstable", unstable, unstable, noFigure, "unst"},
		{"missing", at("a", 10), GridFigure{Metric: "goodput", Place: "load=0.5 a"}, missing, "missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			compared := CompareGrids([]string{"x", "y"}, [][]GridFigure{{c.first}, {c.second}})
			compared.Within = &limit
			if got := compared.worst(compared.Rows[0]); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			var text strings.Builder
			if err := compared.Print(&text); err != nil || !strings.Contains(spaced(text.String()), c.row) {
				t.Errorf("got %v and\n%s\nwant %q", err, text.String(), c.row)
			}
		})
	}
}

// spaced is a text with single spaces.
func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// Orders are of pairs of one group and metric that are apart in the first result.
func TestOrdersOfAComparison(t *testing.T) {
	grid := func(sird, homa, dctcp float64) (list []GridFigure) {
		for i, x := range []float64{sird, homa, dctcp} {
			one := []string{"sird", "homa", "dctcp"}[i]
			list = append(list, GridFigure{Place: "wka " + one, Metric: "p99", Group: "wka", One: one,
				Value: MedianOf([]float64{x}, 0)})
		}
		// Another group is not put in order with this one, nor is what stands alone.
		return append(list,
			GridFigure{
				Place: "wkb sird", Metric: "p99", Group: "wkb", One: "sird", Value: MedianOf([]float64{100}, 0),
			},
			GridFigure{Place: "all", Metric: "p99", Value: MedianOf([]float64{5}, 0)})
	}
	c := CompareGrids([]string{"x", "y"}, [][]GridFigure{grid(1, 1.05, 3), grid(2, 1, 1.9)})
	if right, of := c.inOrder(); right != 1 || of != 2 { // sird and homa are within 10 %
		t.Errorf("%d of %d in order: %+v", right, of, c.Orders)
	}
	var text strings.Builder
	if err := c.Print(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Orders: 1 of 2 pairs", "Orders that are not the first's",
		"wka: p99 y dctcp 3.00 1.90 sird 1.00 2.00",
	} {
		if !strings.Contains(spaced(text.String()), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// Titles of tables are of goodput as metrics of runs are, with pairs that are 5 % apart.
func TestOrdersOfGoodputAreCloser(t *testing.T) {
	for metric, want := range map[string]int{
		"goodput, Gbps per host": 1, "Maximum goodput over all loads, Gbps/host": 1, "p99 slowdown at 50 % load": 0,
	} {
		figure := func(one string, x float64) GridFigure {
			return GridFigure{Place: "wka " + one, Metric: metric, Group: "wka", One: one,
				Value: MedianOf([]float64{x}, 0)}
		}
		grid := []GridFigure{figure("sird", 80), figure("homa", 86)}
		if got := len(CompareGrids([]string{"x", "y"}, [][]GridFigure{grid, grid}).Orders); got != want {
			t.Errorf("%s: %d orders, want %d", metric, got, want)
		}
	}
}

// Depths that differ by less than a frame have no order.
func TestOrdersOfDepthsOfLessThanAFrame(t *testing.T) {
	for x, want := range map[float64]int{0.002: 0, LeastDepth * 2: 1} {
		figure := func(one string, x float64) GridFigure {
			return GridFigure{Place: "wka " + one, Metric: "leaf queue max, KB", Group: "wka", One: one,
				Value: MedianOf([]float64{x}, LeastDepth)}
		}
		grid := []GridFigure{figure("sird", 0.001), figure("homa", x)}
		if got := len(CompareGrids([]string{"x", "y"}, [][]GridFigure{grid, grid}).Orders); got != want {
			t.Errorf("0.001 and %v KB: %d orders, want %d", x, got, want)
		}
	}
}
