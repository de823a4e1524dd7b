package verdict

import "sirdbed/capture/results"

var linkDropsLimit = none(results.Invalid, lossOutside)

var linkDrops = Check{
	Name: "link drops",
	Asks: "Did the fabric's interfaces lose packets outside their ports?",
	How: "Each port is a queueing discipline on an interface; what it drops is part of the experiment and is counted " +
		"separately. What the interfaces drop outside it, for lack of memory or because their other end is gone, is " +
		"not.",
	Made:       onKernel,
	Thresholds: []Threshold{linkDropsLimit},
	Do:         "See the kernel's log. The machine may be out of memory.",
	check:      func(j *judge) { j.lost(j.v.Facts.LinkDrops, linkDropsLimit, "interfaces outside their ports") },
}
