package report

import (
	"testing"

	"sirdbed/capture/results"
)

// Depths of queues that differ by less than the smallest frame are the same, unless nothing
// may differ. Goodput has no such least difference.
func TestDepthsThatDifferByLessThanAFrame(t *testing.T) {
	for _, c := range []struct {
		name          string
		gbps          float64
		first, second float64 // mean depths, in bytes
		within        float64
		beyond        int
	}{
		{"a sample of a thousand", 90, 1.2, 0.6, 0.05, 0},
		{"of nothing", 90, 0, 83, 0.05, 0},
		{"a frame", 90, 0, 84, 0.05, 1},
		{"a tenth", 90, 1000, 1100, 0.05, 1},
		{"a twentieth of much", 90, 100_000, 104_000, 0.05, 0},
		{"where nothing may", 90, 1.2, 0.6, 0, 1},
		{"another figure", 90.1, 0, 0, 0.001, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			of := func(gbps, mean float64) *results.Summary {
				v := results.VariantSummary{Variant: "a", GoodputGbps: gbps}
				v.QueueBytes.Mean = mean
				return &results.Summary{Variants: []results.VariantSummary{v}}
			}
			compared := Compare([]string{"x", "y"}, []*results.Summary{of(90, c.first), of(c.gbps, c.second)})
			compared.Within = &c.within
			if got := compared.Count().Beyond; got != c.beyond {
				t.Errorf("%d figures differ by more, want %d", got, c.beyond)
			}
		})
	}
}

// A figure that one result lacks is missing, whether the other's is a number, of few samples or
// unstable; what is unstable in one alone differs.
func TestFiguresThatAreMissing(t *testing.T) {
	number, unstable := MedianOf([]float64{5}, 0), Value{Unstable: true}
	few := number
	few.Few = true
	for _, c := range []struct {
		name          string
		first, second *Value // nil: not there
		want          Count
	}{
		{"a number", &number, nil, Count{Missing: 1}},
		{"of few samples", &few, nil, Count{Missing: 1}},
		{"of few samples, in the second", nil, &few, Count{Missing: 1}},
		{"unstable", &unstable, nil, Count{Missing: 1}},
		{"unstable, in the second", nil, &unstable, Count{Missing: 1}},
		{"unstable in one", &number, &unstable, Count{Limited: 1, Beyond: 1}},
		{"unstable in both", &unstable, &unstable, Count{}},
		{"few in both", &few, &few, Count{}},
		{"in neither", nil, nil, Count{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			of := func(v *Value) []GridFigure {
				list := []GridFigure{{Place: "elsewhere", Metric: "m", Value: number}}
				if v != nil {
					list = append(list, GridFigure{Place: "here", Metric: "m", Value: *v})
				}
				return list
			}
			compared := CompareGrids([]string{"x", "y"}, [][]GridFigure{of(c.first), of(c.second)})
			within := 0.05
			compared.Within = &within
			c.want.Limited++ // the one elsewhere
			if got := compared.Count(); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
