package main

import (
	"fmt"
	"slices"

	"sirdbed/emu"
)

// check finds out whether the machine can run what is missing, before any of it is run.
func (s *sweeper) check() error {
	ready := map[emu.EngineName]bool{}
	for _, i := range s.missing {
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

// leaveOut takes needless jobs out of what is missing, and optional ones where the machine cannot
// run them.
func (s *sweeper) leaveOut() {
	s.without = map[int]bool{}
	s.missing = slices.DeleteFunc(s.missing, s.dropNeedless)
	if s.optional == nil {
		return
	}
	s.missing = slices.DeleteFunc(s.missing, func(i int) bool {
		j := &s.jobs[i]
		if !s.optional(i) {
			return false
		}
		var err error
		if !s.slurm.submit { // there it is for the nodes to have
			err = engineReady(j.Engine)
		}
		if err == nil {
			err = engines[j.Engine].make(whileUp{}).Check(&j.Experiment)
		}
		if err != nil {
			s.without[i] = true
			x := &j.Experiment
			s.lacks = fmt.Sprintf("%s by %s, on the engine %s: %v", x.Scenario, x.Protocol, j.Engine, err)
		}
		return err != nil
	})
}
