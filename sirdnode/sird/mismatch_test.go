package sird_test

import (
	"fmt"
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// mixed is a rack whose hosts have links of these rates, in Gbps.
func mixed(t testing.TB, rates ...int) *topo.Fabric {
	s := topo.Spec{Leaves: 1, HostsPerLeaf: len(rates), HostRate: 100 * units.Gbps, HostDelay: 1900}
	for i, r := range rates {
		rate := units.BitsPerSecond(r) * units.Gbps
		if rate != s.HostRate {
			host := fmt.Sprintf("h1-%d", i+1)
			s.Links = append(s.Links, topo.LinkOverride{Between: [2]string{"leaf1", host}, Rate: &rate})
		}
	}
	return modeltest.Fabric(t, s)
}

// Paper, section 2.1: a sender whose link is slower is a congested sender. It gets no more
// credit than it can use, so the rest of the receiver's link is there for others.
func TestSlowSendersLeaveTheRestOfTheLink(t *testing.T) {
	for _, c := range []struct {
		name  string
		rates []int // of the receiver or receivers, then of senders
		sends []model.Send
		to    topo.HostID
		least float64 // share of the link
	}{
		{"one of 100 and two of 10 Gbps", []int{100, 100, 10, 10}, []model.Send{{Src: 1, Size: 60_000_000},
			{Src: 2, Size: 20_000_000}, {Src: 3, Size: 20_000_000}}, 0, 0.9},
		{"the same, two messages each", []int{100, 100, 10, 10}, []model.Send{{Src: 1, Size: 60_000_000},
			{Src: 2, Size: 20_000_000}, {Src: 3, Size: 20_000_000}, {Src: 1, Size: 60_000_000},
			{Src: 2, Size: 20_000_000}, {Src: 3, Size: 20_000_000}}, 0, 0.9},
		{"one of 100 and three of 10 Gbps", []int{100, 100, 10, 10, 10}, []model.Send{{Src: 1, Size: 60_000_000},
			{Src: 2, Size: 20_000_000}, {Src: 3, Size: 20_000_000}, {Src: 4, Size: 20_000_000}}, 0, 0.9},
		{"one of 100 and three of 25 Gbps", []int{100, 100, 25, 25, 25}, []model.Send{{Src: 1, Size: 60_000_000},
			{Src: 2, Size: 20_000_000}, {Src: 3, Size: 20_000_000}, {Src: 4, Size: 20_000_000}}, 0, 0.9},
		{"from fast to slow", []int{10, 100, 100}, []model.Send{{Src: 1, Size: 20_000_000},
			{Src: 2, Size: 20_000_000}}, 0, 0.9},
		{"a fast sender to a slow receiver and a fast one", []int{100, 10, 100}, []model.Send{
			{Src: 2, Dst: 0, Size: 60_000_000}, {Src: 2, Dst: 1, Size: 20_000_000}}, 0, 0.85},
		{"a slow sender of two receivers, of which one has a fast sender too", []int{100, 100, 10, 100}, []model.Send{
			{Src: 2, Dst: 0, Size: 20_000_000}, {Src: 2, Dst: 1, Size: 20_000_000}, {Src: 3, Dst: 0, Size: 60_000_000}},
			0, 0.9},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := mixed(t, c.rates...)
			sim := newSim(t, model.Config{Fabric: f, Sends: c.sends})
			sim.Run(500 * units.Microsecond)
			before := sim.Port(f.Downlink(c.to).ID).WireBytes
			const window = units.Millisecond
			sim.Run(sim.Now() + window)
			down := f.Downlink(c.to)
			rate := modeltest.RateOf(units.Bytes(sim.Port(down.ID).WireBytes-before), window)
			t.Logf("%v of %v, %v queued at most", rate, down.Rate, sim.Queue(down.ID).Max)
			if float64(rate) < c.least*float64(down.Rate) {
				t.Errorf("%v of %v in use, want %.0f %%", rate, down.Rate, 100*c.least)
			}
		})
	}
}
