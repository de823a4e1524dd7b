package verdict

import "sirdbed/capture/results"

var queueLog = Check{
	Name: string(results.QueueLogCut),
	Asks: "Is the log of queue samples complete?",
	How: "Queues are sampled by the engine itself. A missing, damaged or truncated log leaves figures of queues for " +
		"only part of the window; all others stand, so the run is DEGRADED.",
	Made:  always,
	Do:    "Treat the figures of queues as those of part of the window, or run it again.",
	check: func(j *judge) { j.complete(results.QueueLogCut, results.Degraded) },
}
