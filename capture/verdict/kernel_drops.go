package verdict

import "sirdbed/capture/results"

var kernelDropsLimit = none(results.Invalid, lossOutside)

var kernelDrops = Check{
	Name: "kernel drops",
	Asks: "Did the machine's kernel carry all packets between namespaces?",
	How: "A packet that crosses a virtual link waits in the receive backlog of a processor, which holds " +
		"net.core.netdev_max_backlog packets of all links together. What does not fit is dropped. The figure is that " +
		"of the whole machine (second column of /proc/net/softnet_stat) over the run, so packets of other programs " +
		"count too.",
	Made:       onKernel,
	Thresholds: []Threshold{kernelDropsLimit},
	Do:         "Raise net.core.netdev_max_backlog, use a larger --dilation, or stop what else uses the network.",
	check:      func(j *judge) { j.lost(j.v.Facts.SoftnetDrops, kernelDropsLimit, "the kernel's backlog") },
}
