package verdict

import (
	"fmt"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/topo/units"
)

var kernelTimersLimit = Threshold{
	Of: "dilation", Limit: float64(emu.MaxKernelTCPDilation), Level: results.Degraded,
	Why: "TCP's least retransmission timeout is then 20 ms of nominal time instead of 200 ms, which is still far " +
		"above any round trip. Beyond, losses cost less than they would.",
}

var kernelTimers = Check{
	Name: "kernel timers",
	Asks: "Did the timers of the kernel's TCP run at nominal speed, or nearly?",
	How: "The real engine runs all of the network slower by the dilation, but the kernel's clock goes on as it is: " +
		"by nominal time the timers of kernel TCP are shorter by the dilation. Made only of hosts with kernel TCP.",
	Made:       onKernel,
	Thresholds: []Threshold{kernelTimersLimit},
	Do: "Use a --dilation of 10 or less; where the machine is too slow for it use --engine virtual, which is never " +
		"too slow.",
	check: checkKernelTimers,
}

func checkKernelTimers(j *judge) {
	if !j.kernel() {
		return
	}
	d := j.v.Facts.Dilation
	j.add(kernelTimersLimit.level(float64(d)), fmt.Sprintf("the dilation is at most %d", emu.MaxKernelTCPDilation),
		"dilation %d%s: the kernel's timers are not stretched, so that TCP's are shorter by that in nominal time "+
			"(least retransmission timeout %v)",
		d, where(missed(float64(d), kernelTimersLimit)), 200*units.Millisecond/units.Time(max(1, d)))
}
