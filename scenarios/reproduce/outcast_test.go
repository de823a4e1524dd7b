package reproduce

import (
	"maps"
	"math"
	"slices"
	"testing"

	"sirdbed/capture/points"
	"sirdbed/capture/results"
	"sirdbed/scenarios/paper"
	"sirdbed/topo/units"
)

// stage is how many receivers the sender has in a part of the course of the plan's
// outcast: none for 5 parts, one and two for 10 each, three for 15.
func stage(part int) int { return min(3, (part+5)/10) }

// outcastPoint is of a variant of which a sender holds held(n) BDP in the second half of
// a stage with n receivers, and each of these has a BDP out; twice as much before.
func outcastPoint(j *Job, held func(n int) float64) *points.Point {
	c := &results.Course{
		Slice: 4 * units.Millisecond, Offered: make([]float64, 40), Hosts: map[string]results.HostCourse{},
	}
	for _, host := range []string{"h1-1", "h1-2", "h1-3", "h1-4"} {
		h := results.HostCourse{Received: make([]float64, 40), Gauges: map[string][]float64{}}
		for _, gauge := range []string{"credit_held", "credit_out", "credit_available"} {
			h.Gauges[gauge] = make([]float64, 40)
		}
		c.Hosts[host] = h
	}
	begins := []int{0, 5, 15, 25, 40}
	for part := range 40 {
		n, early := stage(part), 1.0
		if 2*part < begins[n]+begins[n+1] { // it begins before the middle of the stage
			early = 2
		}
		c.Hosts["h1-1"].Gauges["credit_held"][part] = early * held(n) * testbedBDP
		c.Hosts["h1-1"].Gauges["credit_available"][part] = 100 * testbedBDP // the sender's own does not count
		for i, host := range []string{"h1-2", "h1-3", "h1-4"} {
			out := 0.0
			if i < n {
				out = 1
				c.Hosts[host].Received[part] = early*1000 + 100*float64(i)
			}
			c.Hosts[host].Gauges["credit_out"][part] = early * out * testbedBDP
			c.Hosts[host].Gauges["credit_available"][part] = (1.5 - out) * testbedBDP
		}
	}
	return &points.Point{Engine: j.Engine, Experiment: j.Experiment, Course: c}
}

func outcastJobs(t *testing.T) []Job {
	t.Helper()
	scale, err := FindScale("paper")
	if err != nil {
		t.Fatal(err)
	}
	return plan(t, Options{Scale: scale, Figures: []string{"fig4"}})
}

// Quantities are of the second half of a stage, of the sender or the receivers that have
// joined.
func TestOutcastQuantities(t *testing.T) {
	f := madeUp(outcastJobs(t), func(j *Job) *points.Point {
		if j.Experiment.Variant == "sthr-inf" {
			return outcastPoint(j, func(n int) float64 { return float64(max(0, n-1)) })
		}
		return outcastPoint(j, func(int) float64 { return 0.4 })
	})
	got := f.Measured().Quantities
	maps.DeleteFunc(got, func(name string, _ paper.Value) bool { return name[:4] != "sird" })
	want := map[string]float64{
		"receivers=0/credit_available_bdp":            4.5,
		"receivers=1/credit_at_sender_bdp":            0.4,
		"receivers=2/credit_at_sender_bdp":            0.4,
		"receivers=3/credit_at_sender_bdp":            0.4,
		"receivers=2/credit_by_receiver_bdp":          1,
		"receivers=3/credit_by_receiver_bdp":          1,
		"receivers=3/credit_available_bdp":            1.5,
		"receivers=2/least_to_most_goodput":           1000. / 1100,
		"receivers=3/least_to_most_goodput":           1000. / 1200,
		"sthr=inf/receivers=1/credit_at_sender_bdp":   0,
		"sthr=inf/receivers=2/credit_at_sender_bdp":   1,
		"sthr=inf/receivers=3/credit_at_sender_bdp":   2,
		"sthr=inf/receivers=1/credit_by_receiver_bdp": 1,
		"sthr=inf/receivers=2/credit_by_receiver_bdp": 1,
		"sthr=inf/receivers=3/credit_by_receiver_bdp": 1,
		"sthr=inf/receivers=3/credit_available_bdp":   1.5,
	}
	for name, v := range want {
		q, ok := got["sird/testbed/outcast/"+name]
		if !ok || math.Abs(q.Number-v) > 1e-9 {
			t.Errorf("%s is %v (there: %v), want %v", name, q.Number, ok, v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("quantities %v", slices.Sorted(maps.Keys(got)))
	}
}

// Credit is drawn over time, at the sender and summed over the receivers, with the times
// at which these join.
func TestOutcastFigures(t *testing.T) {
	jobs := outcastJobs(t)
	f := madeUp(jobs, func(j *Job) *points.Point { return outcastPoint(j, func(int) float64 { return 0.4 }) })
	figures := f.Figures(f.Measured())
	if names(figures) != "fig4-sender fig4-receivers" {
		t.Fatalf("figures %q", names(figures))
	}
	for i, want := range []float64{0.4, 1.5} { // at the end
		figure := &figures[i]
		if got := seriesNames(figure); got != "SThr = 0.5 BDP; SThr = inf" {
			t.Errorf("%s: series %s", figure.Name, got)
		}
		last := figure.Series[0].Points[39]
		if len(figure.Series[0].Points) != 40 || last.X != 158 || math.Abs(last.Y-want) > 1e-9 {
			t.Errorf("%s ends with %+v, want %v", figure.Name, last, want)
		}
		if !slices.Equal(figure.Time.Stages, []float64{20, 60, 100}) || figure.Time.End != 160 {
			t.Errorf("%s: %+v", figure.Name, *figure.Time)
		}
	}
}

// Of a point that was kept without its hosts' courses, or ended early, there is what there is.
func TestOutcastOfLess(t *testing.T) {
	jobs := outcastJobs(t)
	for _, c := range []struct {
		name    string
		change  func(*points.Point)
		figures string
		has     string
	}{
		{"without hosts", func(p *points.Point) { p.Course.Hosts = nil }, "", ""},
		{"without a course", func(p *points.Point) { p.Course = nil }, "", ""},
		{"ended in the second stage", func(p *points.Point) {
			p.Course.Offered = p.Course.Offered[:17]
			for _, h := range p.Course.Hosts {
				for name := range h.Gauges {
					h.Gauges[name] = h.Gauges[name][:17]
				}
			}
		}, "fig4-sender fig4-receivers", "sird/testbed/outcast/receivers=1/credit_at_sender_bdp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := madeUp(jobs, func(j *Job) *points.Point {
				p := outcastPoint(j, func(int) float64 { return 0.4 })
				c.change(p)
				return p
			})
			if got := names(f.Figures(f.Measured())); got != c.figures {
				t.Errorf("figures %q, want %q", got, c.figures)
			}
			q := f.Measured().Quantities
			if _, ok := q["sird/testbed/outcast/receivers=3/credit_at_sender_bdp"]; ok {
				t.Error("a stage that was not reached has credit")
			}
			if _, ok := q[c.has]; c.has != "" && !ok {
				t.Errorf("%s is missing", c.has)
			}
		})
	}
}
