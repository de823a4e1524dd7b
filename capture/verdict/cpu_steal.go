package verdict

import "sirdbed/capture/results"

var stealLimit = Threshold{
	Of: "processor time taken by others", Limit: 0.02, Unit: share, Level: results.Degraded,
	Why: "The hypervisor gives time to others in slices of milliseconds, in which all hosts stand still: a few " +
		"percent of it show in the tail of all latencies.",
}

var cpuSteal = Check{
	Name: "CPU steal",
	Asks: "Did the machine have its processors to itself?",
	How: "On a virtual machine the hypervisor may run others on the same processors. The share of processor time " +
		"that it took over the run is in /proc/stat. On the virtual engine it does not matter, and is 0: time " +
		"stands still while anything runs.",
	Made:       onKernel,
	Thresholds: []Threshold{stealLimit},
	Do:         "Use another machine, another time of day, or --engine virtual.",
	check:      func(j *judge) { j.processor(j.v.Facts.Steal, stealLimit, "of CPU time taken by others") },
}

// processor is the finding of a check of a share of processor time.
func (j *judge) processor(found float64, limit Threshold, what string) {
	j.add(limit.level(found), "at most "+limit.number(), "%s %s%s", figure(found, limit), what,
		where(missed(found, limit)))
}
