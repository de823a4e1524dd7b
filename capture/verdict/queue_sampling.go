package verdict

import (
	"fmt"

	"sirdbed/capture/results"
)

var (
	samplingLimit = Threshold{
		Of: "p99 of samples", Limit: 1, Unit: "sampling intervals", Level: results.Degraded,
		Why: "A sample that is later than the next one is due leaves a gap in which a queue's peak can hide.",
	}
	gapLimit = Threshold{
		Of: "share of the window in gaps", Limit: 0.01, Unit: share, Level: results.Degraded,
		Why: "In a gap a queue counts as it last was, which affects its mean.",
	}
)

var queueSampling = Check{
	Name: "queue sampling",
	Asks: "Were the queues sampled on time?",
	How: "The engine reads all switch ports' queues once in every interval (sample: queues in the scenario). How " +
		"late it begins is measured each time. A sample has the time at which it was read, so late ones are not " +
		"wrong; there are just fewer of them. No sample for four intervals and for a thousandth of the window is a " +
		"gap, and gaps are added up. Latencies and goodput depend on none of this.",
	Made:       onKernel,
	Thresholds: []Threshold{samplingLimit, gapLimit},
	Do:         "Sample less often, use a larger --dilation, or take the deepest queues from a capture.",
	check:      checkQueueSampling,
}

func checkQueueSampling(j *judge) {
	s, every := j.v.Facts.SampleLateness, j.v.Experiment.QueueEvery
	if s.Count == 0 || every <= 0 {
		return
	}
	n := float64(s.P99) / float64(every)
	level, limit := samplingLimit.level(n), fmt.Sprintf("p99 is at most %v, the interval", every)
	found := fmt.Sprintf("p99 %v late, %s sampling intervals%s",
		s.P99, figure(n, samplingLimit), where(missed(n, samplingLimit)))
	from, to := j.v.Experiment.Window()
	if gaps := j.v.Facts.SampleStalls; gaps != nil && to > from {
		g := float64(gaps.Total) / float64(to-from)
		level, limit = level.Worse(gapLimit.level(g)), limit+"; gaps at most "+gapLimit.number()+" of the window"
		longest := ""
		if gaps.Total > 0 {
			longest = fmt.Sprintf("at most %v at once", gaps.Longest)
		}
		found += fmt.Sprintf("; gaps %s of the window%s", figure(g, gapLimit), where(longest, missed(g, gapLimit)))
	}
	j.add(level, limit, "%s", found)
}
