//go:build linux

package endpoint

import (
	"testing"

	"sirdbed/sirdnode/endpoint/nexthop"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

func TestRateIsGivenOrFoundOrGuessed(t *testing.T) {
	for _, c := range []struct {
		given, found, want units.BitsPerSecond
		known              bool
	}{
		{0, 0, DefaultRate, false},
		{0, 25 * units.Gbps, 25 * units.Gbps, true},
		{10 * units.Gbps, 25 * units.Gbps, 10 * units.Gbps, true},
		{10 * units.Gbps, 0, 10 * units.Gbps, true},
	} {
		rate, known := (&Config{Rate: c.given}).rate(&nexthop.Interface{Rate: c.found})
		if rate != c.want || known != c.known {
			t.Errorf("given %v, found %v: %v, known %v; want %v, %v", c.given, c.found, rate, known, c.want, c.known)
		}
	}
}

// The network that a protocol sees has the credit loop that was measured, and so its BDP.
func TestDelayMakesTheMeasuredLoop(t *testing.T) {
	for _, usual := range []units.Time{0, 40 * units.Microsecond, 85 * units.Microsecond, 3 * units.Millisecond} {
		delay, err := delayOf(topo.Loop{Usual: usual}, units.Gbps, 1500)
		if err != nil {
			t.Fatal(err)
		}
		f, err := topo.New(spec(3, units.Gbps, delay, 1500))
		if err != nil {
			t.Fatal(err)
		}
		shortest, err := topo.New(spec(3, units.Gbps, 0, 1500))
		if err != nil {
			t.Fatal(err)
		}
		// Four links have whole ns each.
		want := max(usual, shortest.LongestLoop())
		if got := f.LongestLoop(); got > want || got < want-4 {
			t.Errorf("a measured loop of %v: the network's is %v, want %v", usual, got, want)
		}
	}
}
