package verdict

import "sirdbed/capture/results"

// complete is the finding of a check that a kind of log is whole.
func (j *judge) complete(kind results.ProblemKind, level results.Level) {
	if texts := j.v.ProblemsOf(kind); len(texts) > 0 {
		j.add(level, "it is complete", "%s", shorten(texts))
	}
}
