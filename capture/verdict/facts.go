package verdict

import "sirdbed/capture/results"

var facts = Check{
	Name: string(results.FactsLost),
	Asks: "Did the engine report what the run ran on?",
	How: "facts.json is written last. It has the totals of hosts and ports and the lateness that most checks need; " +
		"without it a run cannot be judged, and is INVALID.",
	Made:  always,
	Do:    "It is missing when a run was killed or its disk was full. Run it again.",
	check: func(j *judge) { j.complete(results.FactsLost, results.Invalid) },
}
