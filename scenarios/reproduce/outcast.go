package reproduce

import (
	"fmt"
	"slices"

	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/capture/stats"
	"sirdbed/scenarios/paper"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// The paper's outcast on its testbed, section 6.1.2: in the scenario outcast a sender
// transmits to receivers that join one after another, with csn and without.

// An outcast is what a point of that scenario kept of its sender and receivers.
type outcast struct {
	p      *points.Point
	stream *traffic.Stream
}

// outcastOf returns the outcast of a point, if it has one and its hosts' courses.
func outcastOf(p *points.Point) (o outcast, ok bool) {
	x := &p.Experiment
	i := slices.IndexFunc(x.Streams, func(s traffic.Stream) bool { return s.Pattern == traffic.PatternOutcast })
	if i < 0 || len(x.Streams[i].From) != 1 || p.Course == nil || len(p.Course.Hosts) == 0 {
		return o, false
	}
	return outcast{p, &x.Streams[i]}, true
}

// begins is when the stage with n receivers does; that behind the last is the window's end.
func (o *outcast) begins(n int) units.Time {
	switch _, to := o.p.Experiment.Window(); {
	case n == 0:
		return 0
	case n > len(o.stream.To):
		return to
	}
	return o.stream.Start + units.Time(n-1)*o.stream.Stagger
}

// settled is the part of a list by part of the course that lies in the second half of the
// stage with n receivers; none if no part does.
func (o *outcast) settled(list []float64, n int) []float64 {
	from, to, slice := o.begins(n), o.begins(n+1), o.p.Course.Slice
	from += (to - from) / 2
	first, end := int((from+slice-1)/slice), min(int(to/slice), len(list))
	return list[min(first, end):end]
}

// credit is the mean of a gauge of a host over the second half of the stage with n
// receivers, in BDP.
func (o *outcast) credit(host, gauge string, n int) (bdp float64, ok bool) {
	list := o.settled(o.p.Course.Hosts[host].Gauges[gauge], n)
	return stats.Mean(list) / testbedBDP, len(list) > 0
}

// creditOf is the sum of that over hosts.
func (o *outcast) creditOf(hosts []string, gauge string, n int) (bdp float64, ok bool) {
	for _, host := range hosts {
		c, there := o.credit(host, gauge, n)
		if !there {
			return 0, false
		}
		bdp += c
	}
	return bdp, true
}

// outcastQuantities adds what the claims on the outcast need of a variant.
func outcastQuantities(m *paper.Measured, variant string, p *points.Point) {
	o, ok := outcastOf(p)
	if !ok {
		return
	}
	head := "sird/testbed/outcast"
	if variant == "sthr-inf" {
		head += "/sthr=inf"
	}
	sender, receivers := o.stream.From, o.stream.To
	for n := range len(receivers) + 1 {
		put := func(name string, v float64, ok bool) {
			if ok {
				m.Quantities[fmt.Sprintf("%s/receivers=%d/%s", head, n, name)] = paper.Value{Number: v}
			}
		}
		left, ok := o.creditOf(receivers, "credit_available", n)
		put("credit_available_bdp", left, ok)
		if n == 0 {
			continue
		}
		held, ok := o.creditOf(sender, "credit_held", n)
		put("credit_at_sender_bdp", held, ok)
		out, ok := o.creditOf(receivers[:n], "credit_out", n)
		put("credit_by_receiver_bdp", out/float64(n), ok)
		share, ok := o.fairness(n)
		put("least_to_most_goodput", share, ok)
	}
}

// fairness is what the worst of n receivers got in the second half of their stage, over
// what the best got.
func (o *outcast) fairness(n int) (share float64, ok bool) {
	var got []float64
	for _, host := range o.stream.To[:n] {
		list := o.settled(o.p.Course.Hosts[host].Received, n)
		got = append(got, stats.Mean(list)*float64(len(list)))
	}
	most := slices.Max(got)
	return slices.Min(got) / max(most, 1), most > 0
}

// outcastCredit draws credit at the sender, and what the receivers have left, over time.
func (f *Found) outcastCredit() (list []report.Figure) {
	for _, panel := range []struct {
		name, title, y, gauge, caption string
		guides                         []report.Guide
	}{
		{"sender", "at the sender", "credit at the sender (BDP)", "credit_held",
			"What the sender holds and has not spent.", []report.Guide{{Label: "0.5 BDP", Y: 0.5}}},
		{"receivers", "at the receivers", "credit available (BDP)", "credit_available",
			"What three receivers of 1.5 BDP each have not allocated, in sum.", nil},
	} {
		figure := report.Figure{
			Name: "fig4-" + panel.name, Set: "Credit in an outcast", Panel: panel.title,
			X: report.Axis{Label: "nominal time (ms)"}, Y: report.Axis{Label: panel.y}, Guides: panel.guides,
			Caption: panel.caption + " Means of fortieths of the run. Numbers above: receivers of the one sender.",
		}
		f.of(testbedOutcast, func(j *Job, p *points.Point) {
			o, ok := outcastOf(p)
			if !ok {
				return
			}
			hosts := o.stream.To
			if panel.name == "sender" {
				hosts = o.stream.From
			}
			figure.Time = o.time()
			figure.Series = append(figure.Series, report.Series{
				Name: sthrNames[j.Experiment.Variant], Look: len(figure.Series), Shape: report.Line,
				Points: o.over(hosts, panel.gauge),
			})
		})
		list = append(list, figure)
	}
	return list
}

// sthrNames are the variants of the scenario as the paper's figure calls them.
var sthrNames = map[string]string{"sthr-0.5": "SThr = 0.5 BDP", "sthr-inf": "SThr = inf"}

// over is a gauge's sum over hosts by time, in BDP, each mean in the middle of its part.
func (o *outcast) over(hosts []string, gauge string) (list []report.Point) {
	for i := range o.p.Course.Offered {
		sum := 0.0
		for _, host := range hosts {
			g := o.p.Course.Hosts[host].Gauges[gauge]
			if i >= len(g) {
				return list
			}
			sum += g[i] / testbedBDP
		}
		at := o.p.Course.Slice*units.Time(i) + o.p.Course.Slice/2
		list = append(list, report.Point{X: at.Milliseconds(), Y: sum})
	}
	return list
}

// time is what the figures show beside their series: when receivers join.
func (o *outcast) time() *report.Time {
	_, to := o.p.Experiment.Window()
	t := &report.Time{To: to.Milliseconds(), End: to.Milliseconds()}
	for n := range o.stream.To {
		t.Stages = append(t.Stages, o.begins(n+1).Milliseconds())
	}
	return t
}
