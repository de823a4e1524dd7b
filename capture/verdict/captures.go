package verdict

import "sirdbed/capture/results"

var captures = Check{
	Name: string(results.CaptureCut),
	Asks: "Are the packet captures complete, and of nodes of this fabric?",
	How: "Queues are rebuilt from captures of switches. A capture that is damaged or cut before its end is read up " +
		"to there, and shows queues up to there; figures from other sources stand, so that the run is DEGRADED.",
	Made:  always,
	Do:    "Take exact queues for those of a part of the run, or run it again.",
	check: func(j *judge) { j.complete(results.CaptureCut, results.Degraded) },
}
