package verdict

import (
	"fmt"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/topo/units"
)

var kernelTimersLimit = Threshold{
	Of: "dilation", Limit: float64(emu.MaxKernelTCPDilation), Level: results.Degraded,
	Why: "TCP's minimum retransmission timeout is then 20 ms of nominal time instead of 200 ms, still far above any " +
		"round trip. Beyond that, losses cost less than they should.",
}

var kernelTimers = Check{
	Name: "kernel timers",
	Asks: "Did the timers of the kernel's TCP run at nominal speed, or nearly?",
	How: "The real engine slows the whole network down by the dilation, but not the kernel's clock: in nominal time, " +
		"kernel TCP's timers are shorter by the dilation. Only hosts with kernel TCP are checked.",
	Made:       onKernel,
	Thresholds: []Threshold{kernelTimersLimit},
	Do: "Use a --dilation of 10 or less; where the machine is too slow for that, use --engine virtual, which is " +
		"never too slow.",
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
