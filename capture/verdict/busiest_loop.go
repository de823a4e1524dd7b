package verdict

import "sirdbed/capture/results"

var busyLimit = Threshold{
	Of: "time that the busiest loop worked", Limit: 0.90, Unit: share, Level: results.Degraded,
	Why: "A loop without time to spare cannot catch up: what is late once stays late.",
}

var busiestLoop = Check{
	Name: "busiest loop",
	Asks: "Did every host's loop have time to spare?",
	How: "A host's loop works or sleeps. The share of time that it worked is measured as the processor time of its " +
		"thread over the run; the busiest host counts. On the virtual engine processors are infinitely fast, and " +
		"the share is 0.",
	Made:       onKernel,
	Thresholds: []Threshold{busyLimit},
	Do:         "Use a larger --dilation.",
	check:      func(j *judge) { j.processor(j.v.Facts.ThreadCPU, busyLimit, "of its time spent working") },
}
