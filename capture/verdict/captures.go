package verdict

import "sirdbed/capture/results"

var captures = Check{
	Name: string(results.CaptureCut),
	Asks: "Are the packet captures complete, and of nodes of this fabric?",
	How: "Queues are rebuilt from captures of switches. A damaged or truncated capture is read up to that point, and " +
		"shows queues up to there; figures from other sources stand, so the run is DEGRADED.",
	Made:  always,
	Do:    "Treat exact queues as those of part of the run, or run it again.",
	check: func(j *judge) { j.complete(results.CaptureCut, results.Degraded) },
}
