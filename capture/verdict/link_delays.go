package verdict

import (
	"time"

	"sirdbed/capture/results"
	"sirdbed/emu"
)

var linkDelaysLimit = Threshold{
	Of: "the longest delay of a link, by the kernel's clock", Limit: float64(emu.LeastResolvedDelay / time.Microsecond),
	Unit: "us", Level: results.Degraded,
	Why: "Shorter delays are lost among those of the machine's own processes and interrupts.",
}

var linkDelays = Check{
	Name: "link delays",
	Asks: "Did links delay the packets of programs and of kernel TCP?",
	How: "Where the kernel has no netem, links do not delay packets. The receiving host does so for its transport, " +
		"but not for its kernel: delays are not emulated for programs (apps) and kernel TCP. That matters if a " +
		"link's delay, by the kernel's clock, is long enough for the machine to resolve.",
	Made:       undelayed,
	Thresholds: []Threshold{linkDelaysLimit},
	Do: "Use a kernel with netem (sirdbed doctor) or the engine virtual; or, if programs alone matter, a dilation of " +
		"1.",
	check: func(j *judge) {
		us := float64(j.v.Facts.UndelayedPrograms) / float64(time.Microsecond)
		j.add(linkDelaysLimit.level(us), "delays that programs lack are too short to be resolved",
			"delays not emulated for the kernel's packets: up to %s us a link by the kernel's clock",
			figure(us, linkDelaysLimit))
	},
}

var undelayed = Made{"runs with programs or kernel TCP on links that do not delay packets", func(j *judge) bool {
	return j.v.Facts != nil && j.v.Facts.UndelayedPrograms > 0
}}
