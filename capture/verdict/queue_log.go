package verdict

import "sirdbed/capture/results"

var queueLog = Check{
	Name: string(results.QueueLogCut),
	Asks: "Is the log of queue samples complete?",
	How: "Queues are sampled by the engine itself. A log that is missing, damaged or cut before its end leaves " +
		"figures of queues for a part of the window; all others stand, so that the run is DEGRADED.",
	Made:  always,
	Do:    "Read the figures of queues as those of a part of the window, or run it again.",
	check: func(j *judge) { j.complete(results.QueueLogCut, results.Degraded) },
}
