package main

import (
	"fmt"
	"runtime"

	"sirdbed/emu"
	"sirdbed/scenarios"
)

// takeGuests has a scenario take --guests, for an engine. Engines without guests have one
// kernel or none, which 1 may say.
func takeGuests(s *scenarios.Scenario, text string, engine emu.EngineName) error {
	if text == "" {
		return nil
	}
	if err := s.Guests.UnmarshalText([]byte(text)); err != nil {
		return badInput(fmt.Errorf("--guests: %w", err))
	}
	if s.Guests != 1 && engine != emu.Virtual {
		return badInput(fmt.Errorf("--guests %s: the engine %s has no guests: only %s has", text, engine, emu.Virtual))
	}
	s.Set = append(s.Set, "guests="+text)
	return nil
}

// shareGuests gives each experiment the number of guests that it is run by. Processors go to
// variants first, and auto is what is left of them; other engines have no guests.
func (r *scenarioRun) shareGuests() error {
	most := engines[r.engine].guests
	for i := range r.experiments {
		x := &r.experiments[i]
		switch {
		case most == nil || x.Guests == 1:
			x.Guests = 0
		case x.Guests == int(scenarios.AutoGuests):
			n, err := most(x, runtime.GOMAXPROCS(0)/r.wanted())
			if err != nil {
				return err
			}
			if x.Guests = n; n == 1 {
				x.Guests = 0
			}
		}
	}
	return nil
}
