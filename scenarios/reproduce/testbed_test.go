package reproduce

import (
	"math"
	"slices"
	"strings"
	"testing"

	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/capture/stats"
	"sirdbed/emu"
	"sirdbed/topo/units"
)

// madeUp has a point for each job of a plan, made by make; nil: none.
func madeUp(jobs []Job, make func(*Job) *points.Point) *Found {
	f := &Found{Jobs: jobs}
	for i := range jobs {
		f.Points = append(f.Points, make(&jobs[i]))
	}
	return f
}

// Studies of the testbed have times of their own; kernel TCP has an engine of its own, and
// can be left out.
func TestPlanOfTheTestbed(t *testing.T) {
	paperScale, err := FindScale("paper")
	if err != nil {
		t.Fatal(err)
	}
	smoke, err := FindScale("smoke")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		scale       *Scale
		study       string
		variants    []string
		engine      emu.EngineName
		longest     units.Time // from 0 to the end of the longest window
		fabricHosts int
	}{
		{paperScale, testbedIncast, []string{"unloaded", "srpt", "rr"}, emu.Model, 55 * units.Millisecond, 8},
		{smoke, testbedIncast, []string{"unloaded", "srpt", "rr"}, emu.Model, 3500 * units.Microsecond, 8},
		{paperScale, testbedCubic, []string{"unloaded-tcp-cubic", "loaded-tcp-cubic"}, emu.Virtual,
			180 * units.Millisecond, 8},
		{smoke, testbedCubic, []string{"unloaded-tcp-cubic", "loaded-tcp-cubic"}, emu.Virtual,
			3500 * units.Microsecond, 8},
		{paperScale, testbedOutcast, []string{"sthr-0.5", "sthr-inf"}, emu.Model, 160 * units.Millisecond, 4},
		{smoke, testbedOutcast, []string{"sthr-0.5", "sthr-inf"}, emu.Model, 4 * units.Millisecond, 4},
	} {
		var variants []string
		longest := units.Time(0)
		for _, j := range plan(t, Options{Scale: c.scale, Figures: []string{"fig3", "fig4"}}) {
			if j.Study != c.study {
				continue
			}
			variants = append(variants, j.Experiment.Variant)
			_, to := j.Experiment.Window()
			longest = max(longest, to)
			spec := j.Experiment.Topology
			if j.Engine != c.engine || j.Optional != (c.engine == emu.Virtual) || spec.HostsPerLeaf != c.fabricHosts {
				t.Errorf("%s, scale %s: engine %s, optional %v, %d hosts", c.study, c.scale.Name, j.Engine, j.Optional,
					spec.HostsPerLeaf)
			}
		}
		if !slices.Equal(variants, c.variants) || longest != c.longest {
			t.Errorf("%s, scale %s: variants %v until %v, want %v until %v", c.study, c.scale.Name, variants, longest,
				c.variants, c.longest)
		}
	}
}

// pointOfIncast is of a variant whose small requests take from us to 2 us.
func pointOfIncast(j *Job, us float64) *points.Point {
	ns := us * float64(units.Microsecond)
	curve := make([]float64, len(results.CurveRanks))
	for i, rank := range results.CurveRanks {
		curve[i] = ns * (1 + rank)
	}
	return &points.Point{
		Engine: j.Engine, Experiment: j.Experiment,
		Result: results.VariantSummary{LatencyNS: map[string]stats.Summary{"small": {Count: 500, P50: 1.5 * ns}}},
		Curves: results.Curves{Latency: map[string][]float64{"small": curve}},
	}
}

// Kernel TCP is in a figure beside SIRD, and its median a quantity; without its points
// there is no such figure, and the others are as they were.
func TestIncastWithAndWithoutKernelTCP(t *testing.T) {
	jobs := plan(t, Options{Figures: []string{"fig3"}})
	with := madeUp(jobs, func(j *Job) *points.Point {
		if j.Study == testbedCubic {
			return pointOfIncast(j, 2000)
		}
		return pointOfIncast(j, 16)
	})
	without := madeUp(jobs, func(j *Job) *points.Point {
		if j.Study == testbedCubic {
			return nil
		}
		return pointOfIncast(j, 16)
	})
	const median = "tcp-cubic/testbed/incast/size=8b/receiver=saturated/p50_latency_us"
	for _, c := range []struct {
		name    string
		f       *Found
		figures string
		median  float64
	}{{"with", with, "fig3-small fig3-cubic", 3000}, {"without", without, "fig3-small", 0}} {
		figures := c.f.Figures(c.f.Measured())
		if got := names(figures); got != c.figures {
			t.Errorf("%s: figures %q, want %q", c.name, got, c.figures)
		}
		if got := c.f.Measured().Quantities[median].Number; math.Abs(got-c.median) > 1e-6 {
			t.Errorf("%s: a median of %v us, want %v", c.name, got, c.median)
		}
		small := figures[0]
		if got := seriesNames(&small); got != "SIRD, unloaded; SIRD, incast, SRPT; SIRD, incast, SRR" {
			t.Errorf("%s: series %s", c.name, got)
		}
		if math.Abs(small.X.Min-14.4) > 1e-9 || math.Abs(small.X.Max-35.2) > 1e-9 {
			t.Errorf("%s: the axis goes from %v to %v", c.name, small.X.Min, small.X.Max)
		}
	}
	if cubic := with.Figures(with.Measured())[1]; len(cubic.Series) != 5 || !cubic.X.Log || len(cubic.Guides) != 1 {
		t.Errorf("kernel TCP's figure has %s", seriesNames(&cubic))
	}
}

func names(figures []report.Figure) string {
	var list []string
	for _, f := range figures {
		list = append(list, f.Name)
	}
	return strings.Join(list, " ")
}

func seriesNames(f *report.Figure) string {
	var list []string
	for _, s := range f.Series {
		list = append(list, s.Name)
	}
	return strings.Join(list, "; ")
}
