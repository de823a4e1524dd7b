package verdict

import "sirdbed/capture/results"

var socketDropsLimit = none(results.Invalid, lossOutside)

var socketDrops = Check{
	Name: "socket drops",
	Asks: "Did hosts take all packets from their receive rings in time?",
	How: "A packet that reaches a host waits in a ring that the kernel shares with the host's process. A ring that " +
		"is full drops packets, which no receiver of the emulated network would do. Hosts with kernel TCP have no " +
		"ring, and are not checked.",
	Made:       onKernel,
	Thresholds: []Threshold{socketDropsLimit},
	Do:         "The host's loop was too slow: use a larger --dilation, or a machine with less to do.",
	check:      checkSocketDrops,
}

func checkSocketDrops(j *judge) {
	if j.kernel() {
		return // there are no rings; what TCP drops it sends again, and counts
	}
	var n int64
	for _, h := range j.v.Facts.Hosts {
		n += h.RingDrops
	}
	j.lost(n, socketDropsLimit, "hosts' receive rings")
}
