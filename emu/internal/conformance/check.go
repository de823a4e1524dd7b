package conformance

import (
	"fmt"
	"slices"

	"sirdbed/topo/units"
)

// An Allowance is by how much an implementation may differ.
type Allowance struct {
	Marks int         // packets of a level that are marked and should not be, or the other way round
	Gap   int64       // ps by which the time between two packets may be off
	Burst units.Bytes // that leave ahead of their time after the port was idle
	Order bool        // packets may leave in another order, at other times
}

// Check compares what came of the burst with what should have.
func (c *Case) Check(got Result, allow Allowance) error {
	want := c.Want()
	if len(got.Departures) != len(want.Departures) || got.Drops != want.Drops || got.CreditDrops != want.CreditDrops {
		return fmt.Errorf("%d left, %d dropped, %d credits dropped; want %d, %d, %d",
			len(got.Departures), got.Drops, got.CreditDrops,
			len(want.Departures), want.Drops, want.CreditDrops)
	}
	if allow.Order {
		byID := func(a, b Departure) int { return int(a.ID) - int(b.ID) }
		slices.SortFunc(got.Departures, byID)
		slices.SortFunc(want.Departures, byID)
	}
	var wrong [8]int // by level
	for i, w := range want.Departures {
		g := got.Departures[i]
		if g.ID != w.ID {
			return fmt.Errorf("packet %d left in place %d, want packet %d", g.ID, i, w.ID)
		}
		if g.Marked != w.Marked {
			level := min(int(w.Precedence), c.Priorities-1)
			if wrong[level]++; wrong[level] > allow.Marks {
				return fmt.Errorf("packet %d is marked: %v, want %v (%d of level %d are wrong)", g.ID, g.Marked,
					w.Marked, wrong[level], level)
			}
		}
		if i == 0 || allow.Order {
			continue
		}
		gap, exact := g.At-got.Departures[i-1].At, w.At-want.Departures[i-1].At
		early := allow.Gap
		if i == 1 {
			early += c.Rate.Picoseconds(allow.Burst)
		}
		if gap < exact-early || gap > exact+allow.Gap {
			return fmt.Errorf("packet %d left %d ps after the one before, want %d", g.ID, gap, exact)
		}
	}
	return nil
}
