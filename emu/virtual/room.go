//go:build linux

package virtual

import (
	"cmp"
	"errors"
	"runtime"

	"sirdbed/emu"
	"sirdbed/emu/rlimit"
	"sirdbed/emu/virtual/guest"
	"sirdbed/topo"
)

// What runs need of this process and machine, and how many of them have room. How much memory
// that is by fabric and traffic, memory.go says.

// checkRoom returns what this process or machine lacks for so many runs side by side.
func (e *Engine) checkRoom(f *topo.Fabric, x *emu.Experiment, runs int) error {
	size, err := e.wholeMemory(f, x)
	if err != nil {
		return err
	}
	// A guest's kernel has all files of the machine open that its processes have, and one
	// that tells of each process's system calls.
	files := guest.Descriptors + 2*len(f.Hosts) + len(x.Capture)
	// Its memory is a file. By several guests each has less than all have together: then these
	// limits ask for more than is needed.
	err = errors.Join(rlimit.Descriptors(runs*files), rlimit.AddressSpace(size), rlimit.FileSize(size),
		rlimit.Processes(runs*processes(f)))
	if err != nil {
		return err
	}
	return checkMemory(f, x, int64(runs)*size)
}

// processes is about how many processes and threads a run takes: of this program, and of
// the guest's kernel, which has one for each in the guest.
func processes(f *topo.Fabric) int { return 12 + runtime.GOMAXPROCS(0) + len(f.Hosts) }

// memory is what the guest of a run by one may use, in bytes.
func (e *Engine) memory(f *topo.Fabric, x *emu.Experiment) (int64, error) {
	if e.Memory != 0 {
		return e.Memory, nil
	}
	return memory(f, x)
}

// AtOnce is how many of up to n runs like an experiment fit on this machine side by side,
// each guest with a processor of its own.
func (e *Engine) AtOnce(x *emu.Experiment, n int) int {
	n = min(n, runtime.GOMAXPROCS(0)/count(x))
	f, err := topo.New(x.Topology)
	if err != nil {
		return 1 // which the run will say
	}
	for ; n > 1; n-- {
		if e.checkRoom(f, x, n) == nil {
			return n
		}
	}
	return 1
}

// wholeMemory is what all guests of an experiment may use.
func (e *Engine) wholeMemory(f *topo.Fabric, x *emu.Experiment) (sum int64, err error) {
	n := count(x)
	if n == 1 {
		return e.memory(f, x)
	}
	guests, err := split(f, n)
	if err != nil {
		return 0, err
	}
	for i := range n {
		size, e := e.partMemory(f, x, guests, i)
		sum, err = sum+size, cmp.Or(err, e)
	}
	return sum, err
}

// partMemory is what guest self of those that have the fabric (by node) may use: what any guest
// needs, and its share of what hosts and traffic need, in bytes.
func (e *Engine) partMemory(f *topo.Fabric, x *emu.Experiment, guests []int, self int) (int64, error) {
	if e.Memory != 0 {
		return e.Memory, nil
	}
	whole, err := memory(f, x)
	if err != nil {
		return 0, err
	}
	hosts := 0
	for _, h := range f.Hosts {
		if guests[h] == self {
			hosts++
		}
	}
	const uneven = 1.5 // some racks have more to do, and patterns are not alike everywhere
	share := min(1, uneven*float64(hosts)/float64(len(f.Hosts)))
	return guestMemory + int64(share*float64(whole-guestMemory)), nil
}
