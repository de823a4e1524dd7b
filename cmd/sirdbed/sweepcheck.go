package main

import (
	"fmt"
	"slices"

	"sirdbed/emu"
)

// check finds out whether the machine can run each of the jobs, before any is run.
func (s *sweeper) check(missing []int) error {
	ready := map[emu.EngineName]bool{}
	for _, i := range missing {
		j := &s.jobs[i]
		if !ready[j.Engine] && !s.slurm.submit { // there it is for the nodes to have
			if err := engineReady(j.Engine); err != nil {
				return fmt.Errorf("%s: %w", j.Name(), err)
			}
			ready[j.Engine] = true
		}
		if err := engines[j.Engine].make(whileUp{}).Check(&j.Experiment); err != nil {
			return badInput(fmt.Errorf("%s: %w", j.Name(), err))
		}
	}
	return nil
}

// engineReady returns what the machine lacks of what an engine needs.
func engineReady(name emu.EngineName) error {
	release, err := reserveEngine(name)
	if err == nil {
		release()
	}
	return err
}

// leaveOut takes optional jobs out of those that are missing, where the machine cannot run
// them, and returns the others. why says which engine it was and what that lacks, "" if all
// can be run.
func (s *sweeper) leaveOut(missing []int, optional func(i int) bool) (rest []int, why string) {
	s.without = map[int]bool{}
	rest = slices.DeleteFunc(slices.Clone(missing), func(i int) bool {
		j := &s.jobs[i]
		if !optional(i) {
			return false
		}
		err := engineReady(j.Engine)
		if err == nil {
			err = engines[j.Engine].make(whileUp{}).Check(&j.Experiment)
		}
		if err != nil {
			s.without[i] = true
			x := &j.Experiment
			why = fmt.Sprintf("%s by %s, on the engine %s: %v", x.Scenario, x.Protocol, j.Engine, err)
		}
		return err != nil
	})
	return rest, why
}
