package scenarios

import (
	"fmt"

	"sirdbed/capture/results"
	"sirdbed/emu"
)

// AppBounds are the bounds that a scenario's programs are: each has to end, or to run on,
// as expected. They apply wherever programs have run.
func AppBounds(variants []*results.Variant) (list []results.Bound) {
	for _, v := range variants {
		for i := range v.Facts.Apps {
			f := &v.Facts.Apps[i]
			b := results.Bound{Name: "app " + f.Name, OK: f.Met}
			for j := range v.Experiment.Apps {
				if a := &v.Experiment.Apps[j]; a.Name == f.Name {
					b.Name += expectation(a)
				}
			}
			if len(variants) > 1 {
				b.Name += " (" + v.Name + ")"
			}
			if f.Exit != nil {
				b.Value, b.Unit = float64(*f.Exit), "exit"
			}
			if !f.Met {
				b.Error = f.Problem
			}
			list = append(list, b)
		}
	}
	return list
}

// expectation is how a program has to end, in words.
func expectation(a *emu.App) string {
	code, each, err := a.ExpectedExit()
	switch {
	case err != nil || each:
		return ": any exit"
	case a.IsDaemon():
		return ": ready, and up to the end"
	}
	return fmt.Sprintf(": exit %d", code)
}
