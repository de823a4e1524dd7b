//go:build linux

package real

import (
	"bytes"
	"fmt"
	"os"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
)

// machineCounters are what the machine counts for all of it: their growth over a
// run shows who else was there, and what was lost.
type machineCounters struct {
	steal   stealClock
	softnet int64 // packets that the kernel's backlog dropped
}

func readMachineCounters() (c machineCounters) {
	c.steal = readSteal()
	c.softnet, _ = fabric.SoftnetDrops()
	return c
}

// since writes down what has been counted since c was read.
func (c *machineCounters) since(f *emu.Facts) {
	f.Steal = c.steal.since()
	if n, err := fabric.SoftnetDrops(); err == nil {
		f.SoftnetDrops = n - c.softnet
	}
}

// stealClock counts the processor time that others took from this machine.
type stealClock struct{ steal, total int64 }

// readSteal reads /proc/stat; zero where that cannot be read.
func readSteal() stealClock {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return stealClock{}
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	var v [8]int64
	if _, err := fmt.Sscanf(string(line), "cpu %d %d %d %d %d %d %d %d",
		&v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]); err != nil {
		return stealClock{}
	}
	c := stealClock{steal: v[7]}
	for _, n := range v {
		c.total += n
	}
	return c
}

// since returns the share of processor time stolen since c was read.
func (c stealClock) since() float64 {
	now := readSteal()
	if now.total <= c.total {
		return 0
	}
	return float64(now.steal-c.steal) / float64(now.total-c.total)
}
