//go:build linux

package virtual

import (
	"cmp"
	"slices"
)

// A coordinator is what the first guest's controller knows of all: what they want to agree on, and
// how many hosts are busy. What it knows it from, and what follows, is in notes.go. It belongs to
// one goroutine.
type coordinator struct {
	values  [][]int64    // by guest: those that it wants to agree on, and not all others have sent
	busy    []int        // by guest: hosts that are not done
	reports []busyReport // that are not in busy yet, in the order of time
	left    bool         // one of them has
	ended   bool         // the run has
}

// A busyReport is how many hosts of a guest were busy from a time on, in ns of the guests'
// clock.
type busyReport struct {
	at    int64
	guest int
	hosts int
}

func newCoordinator(guests int) *coordinator {
	c := &coordinator{values: make([][]int64, guests), busy: make([]int, guests)}
	for i := range c.busy {
		c.busy[i] = 1 // whatever it is, it is not done
	}
	return c
}

// agree takes a guest's value. It returns that of each guest once all have sent one.
func (c *coordinator) agree(guest int, value int64) []int64 {
	c.values[guest] = append(c.values[guest], value)
	for _, v := range c.values {
		if len(v) == 0 {
			return nil
		}
	}
	var all []int64
	for i, v := range c.values {
		all = append(all, v[0])
		c.values[i] = v[1:]
	}
	return all
}

// report takes a guest's report. Those of several may come in any order.
func (c *coordinator) report(r busyReport) {
	at, _ := slices.BinarySearchFunc(c.reports, r, func(a, b busyReport) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.guest, b.guest), -1) // a guest's in the order of its own
	})
	c.reports = slices.Insert(c.reports, at, r)
}

// over takes the reports until a time, in ns of the guests' clock, all of which are there, and
// reports whether all hosts were done at once.
func (c *coordinator) over(until int64) bool {
	for len(c.reports) > 0 && c.reports[0].at <= until {
		r := c.reports[0]
		c.reports = c.reports[1:]
		c.busy[r.guest] = r.hosts
		if len(c.reports) > 0 && c.reports[0].at == r.at {
			continue // the same instant
		}
		if !slices.ContainsFunc(c.busy, func(n int) bool { return n > 0 }) {
			return true
		}
	}
	return false
}
