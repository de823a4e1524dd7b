package verdict

import "sirdbed/capture/results"

var hostLog = Check{
	Name: string(results.HostLogCut),
	Asks: "Are the logs of all hosts complete?",
	How: "A host's log has each message that it sent and received. A missing, damaged or truncated log is read as " +
		"far as it goes; what is beyond counts as not having happened, so latencies and goodput are those of the " +
		"messages that are left.",
	Made:  always,
	Do:    "A killed host cannot finish its log; neither can one whose disk was full. Run it again.",
	check: func(j *judge) { j.complete(results.HostLogCut, results.Invalid) },
}
