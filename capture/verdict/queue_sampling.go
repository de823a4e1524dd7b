package verdict

import (
	"fmt"

	"sirdbed/capture/results"
)

var samplingLimit = Threshold{
	Of: "p99 of samples", Limit: 1, Unit: "sampling intervals", Level: results.Degraded,
	Why: "A sample that is later than the next one is due leaves a gap in which a queue's peak can hide.",
}

var queueSampling = Check{
	Name: "queue sampling",
	Asks: "Were the queues sampled when they should be?",
	How: "The engine reads all switch ports' queues once in every interval (sample: queues in the scenario). How " +
		"late it begins is measured each time. A sample has the time at which it was read, so that late ones are " +
		"not wrong; there are just fewer of them.",
	Made:       onKernel,
	Thresholds: []Threshold{samplingLimit},
	Do:         "Sample less often, use a larger --dilation, or take the deepest queues from a capture.",
	check:      checkQueueSampling,
}

func checkQueueSampling(j *judge) {
	s, every := j.v.Facts.SampleLateness, j.v.Experiment.QueueEvery
	if s.Count == 0 || every <= 0 {
		return
	}
	n := float64(s.P99) / float64(every)
	j.add(samplingLimit.level(n), fmt.Sprintf("p99 is at most %v, the interval", every),
		"p99 %v late, %s sampling intervals%s", s.P99, figure(n, samplingLimit), where(missed(n, samplingLimit)))
}
