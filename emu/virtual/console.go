//go:build linux

package virtual

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sirdbed/topo/units"
)

// oomGrace is what a guest without memory is given to write down what it has, by
// the wall clock. It may take for ever to find out that it cannot go on.
const oomGrace = 3 * time.Second

// A console has what one guest writes: its kernel, and its controller (Inside). line is for
// the goroutine that reads it; all else is for after the guest's end.
type console struct {
	progress func(units.Time) // nil: for nobody
	started  time.Time        // the run, by the wall clock
	startup  time.Duration    // until the hosts were ready to go, by the wall clock
	kill     func()           // ends the guest, and those that share its clock
	reached  units.Time
	failure  string   // the controller's error
	oom      string   // the kernel's line about a process that it killed for want of memory
	others   []string // the last lines that are not for machines
}

// The controller's lines for the engine. Those of a fabric that is kept up are in up.go, and
// the guest's own in package guest.
const (
	reachedMark = "#reached " // and the nominal time, in ns
	// startingMark begins a sign of life: so many hosts have started, or are ready.
	startingMark = "#starting "
	failedMark   = "#failed " // and the error, quoted
)

// lastLines is how many lines of a controller that failed without an error its error shows.
const lastLines = 10

// outcome is why a guest failed, nil if it did not. exit and err are how guest.Run ended, memory
// is what the guest had, in bytes.
func (c *console) outcome(exit int, err error, memory int64) error {
	switch {
	case err != nil:
	case c.failure != "":
		err = errors.New(c.failure)
	case exit != 0:
		err = fmt.Errorf("the controller in the guest ended with exit code %d:\n  %s", exit,
			strings.Join(c.others, "\n  "))
	}
	if err != nil && c.oom != "" {
		err = fmt.Errorf("the guest ran out of its %d MB of memory: shorten the run, or capture fewer nodes (%s)",
			memory>>20, c.oom)
	}
	return err
}

// line takes a line.
func (c *console) line(text string) {
	if at, ok := strings.CutPrefix(text, reachedMark); ok {
		if c.startup == 0 {
			c.startup = time.Since(c.started)
		}
		n, err := strconv.ParseInt(at, 10, 64)
		if err == nil {
			c.reached = units.Time(n)
		}
		if err == nil && c.progress != nil {
			c.progress(c.reached)
		}
		return
	}
	if strings.HasPrefix(text, startingMark) {
		return
	}
	if quoted, ok := strings.CutPrefix(text, failedMark); ok {
		if s, err := strconv.Unquote(quoted); err == nil {
			c.failure = s
		}
		return
	}
	if c.oom == "" && strings.Contains(text, "Out of memory: Killed process") {
		c.oom = strings.TrimSpace(text)
		time.AfterFunc(oomGrace, c.kill)
	}
	if c.others = append(c.others, text); len(c.others) > lastLines {
		c.others = c.others[1:]
	}
}
