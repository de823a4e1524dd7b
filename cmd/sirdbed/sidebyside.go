package main

import (
	"cmp"
	"runtime"
	"sync"

	"sirdbed/emu"
)

// sideBySide does something with all of a list, with up to n of them at once, each begun in the order
// of the list.
func sideBySide[T any](n int, list []T, do func(T)) {
	next := make(chan T)
	var workers sync.WaitGroup
	for range min(n, len(list)) {
		workers.Go(func() {
			for x := range next {
				do(x)
			}
		})
	}
	for _, x := range list {
		next <- x
	}
	close(next)
	workers.Wait()
}

// An engineRun is an experiment and the engine that is to run it.
type engineRun struct {
	engine     emu.EngineName
	experiment *emu.Experiment
}

// runsAtOnce is how many of a list of runs go at once: as many as asked for, or, if that is 0, one for
// each processor, as far as the machine has room for them. Those that take a whole machine do not
// count.
func runsAtOnce(asked int, list []engineRun) int {
	n := cmp.Or(asked, runtime.GOMAXPROCS(0))
	for _, r := range list {
		// Points on the model have no files open.
		if atOnce := engines[r.engine].atOnce; n > 1 && r.engine != emu.Model && atOnce != nil {
			n = max(1, atOnce(r.experiment, n))
		}
	}
	return n
}
