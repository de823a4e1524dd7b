package verdict

import "sirdbed/capture/results"

var hostLog = Check{
	Name: string(results.HostLogCut),
	Asks: "Are the logs of all hosts complete?",
	How: "A host's log has each message that it sent and received. A log that is missing, damaged or cut before " +
		"its end is read up to there; what it had beyond counts as not having happened, so that latencies and " +
		"goodput are those of the messages that are left.",
	Made:  always,
	Do:    "A host that was killed cannot end its log; neither can one whose disk was full. Run it again.",
	check: func(j *judge) { j.complete(results.HostLogCut, results.Invalid) },
}
