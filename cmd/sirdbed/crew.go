package main

import (
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"sirdbed/emu"
	"sirdbed/topo/units"
)

// A crew is the progress of variants that run side by side: one bar for all of them on a
// terminal. Its methods are safe for concurrent use.
type crew struct {
	mu  sync.Mutex
	bar *progressbar.ProgressBar // nil where there is no terminal
	at  []units.Time             // by variant: how far it has come
	end []units.Time
}

func newCrew(w io.Writer, list []emu.Experiment) *crew {
	c := &crew{at: make([]units.Time, len(list))}
	all := units.Time(0)
	for i := range list {
		c.end = append(c.end, list[i].End())
		all += list[i].End()
	}
	if isTerminal(w) {
		c.bar = newBar(w, "variants", all)
	}
	return c
}

// shown reports whether there is a bar.
func (c *crew) shown() bool { return c != nil && c.bar != nil }

// reached has a variant have come so far.
func (c *crew) reached(i int, at units.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at[i] = max(c.at[i], at)
	c.draw()
}

// ended makes room for a line on a variant's end. The bar is there again after the
// function that it returns.
func (c *crew) ended(i int) func() {
	c.mu.Lock()
	c.at[i] = c.end[i]
	c.bar.Clear()
	return func() {
		defer c.mu.Unlock()
		c.draw()
	}
}

func (c *crew) draw() {
	sum, all := units.Time(0), units.Time(0)
	for i, at := range c.at {
		sum, all = sum+at, all+c.end[i]
	}
	if sum == all {
		c.bar.Finish()
		return
	}
	c.bar.Set64(int64(sum))
}

// newBar is a bar of nominal time up to end.
func newBar(w io.Writer, label string, end units.Time) *progressbar.ProgressBar {
	return progressbar.NewOptions64(int64(end),
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(label),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionClearOnFinish(),
	)
}
