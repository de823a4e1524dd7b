package verdict

import (
	"context"
	"strings"

	"sirdbed/capture/results"
)

var run = Check{
	Name: "run",
	Asks: "Did the run reach the end of its measured window?",
	How: "The engine writes to facts.json what nominal time it reached and, if it ended early, why. A run that was " +
		"interrupted or failed is INVALID, as its figures are those of part of the window: messages that would have " +
		"completed did not. What was measured until then is reported nevertheless. A run of programs (apps) without " +
		"traffic ends with them.",
	Made:  withFacts,
	Do:    "See why it ended; its standard error is part of the finding. Then run it again.",
	check: checkRun,
}

func checkRun(j *judge) {
	const limit = "it came to its end"
	f := j.v.Facts
	from, to := j.v.Experiment.Window()
	switch {
	case f.Failure == context.Canceled.Error():
		j.add(results.Invalid, limit, "it was interrupted at %v of a window from %v to %v", f.Reached, from, to)
	case f.Failure != "":
		j.add(results.Invalid, limit, "it failed: %s", brief(f.Failure))
	case f.Reached < to && j.programsEnded():
		j.add(results.Pass, limit, "it ended at %v, with its programs", f.Reached)
	case f.Reached < to:
		j.add(results.Invalid, limit, "it ended at %v of a window from %v to %v", f.Reached, from, to)
	default:
		j.add(results.Pass, limit, "it ended at %v", f.Reached)
	}
}

// programsEnded reports whether a run that is of programs alone has seen all end that it
// waits for.
func (j *judge) programsEnded() bool {
	if j.hasTraffic() || len(j.v.Facts.Apps) < len(j.v.Experiment.Apps) {
		return false
	}
	for i := range j.v.Experiment.Apps {
		if !j.v.Experiment.Apps[i].IsDaemon() && j.v.Facts.Apps[i].Exit == nil && j.v.Facts.Apps[i].Met {
			return false
		}
	}
	return true
}

// brief is what of a failure goes into a list of reasons: what failed, and the
// first line of its standard error.
func brief(failure string) string {
	lines := strings.SplitN(failure, "\n", 3)
	return strings.Join(lines[:min(2, len(lines))], " ")
}
