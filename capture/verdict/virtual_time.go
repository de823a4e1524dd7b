package verdict

import (
	"fmt"

	"sirdbed/capture/results"
)

var (
	exactLimit = Threshold{
		Of: "largest lateness of anything", Limit: 0.1, Unit: "packet times", Level: results.Degraded,
		Why: "Times are rounded to the tick of the guest's clock, which is some ns; a tenth of a packet time is " +
			"more than that.",
	}
	notExactLimit = Threshold{
		Of: "largest lateness of anything", Limit: 1, Unit: "packet times", Level: results.Invalid,
		Why: "Packets then change their order, and the same seed need not give the same run.",
	}
)

var virtualTime = Check{
	Name: "virtual time",
	Asks: "Did time stand still while anything ran?",
	How: "On the virtual engine the guest's clock advances only while every process sleeps, so no wake-up, message " +
		"or sample of the queues is ever late. Lateness shows that something in the guest spins, or that its clock " +
		"is not virtual. Packet times are those of the check wake-up lateness.",
	Made:       onVirtual,
	Thresholds: []Threshold{exactLimit, notExactLimit},
	Do:         "It is a bug, or a kernel without the patch: see sirdbed kernel, and build it again.",
	check:      checkVirtualTime,
}

func checkVirtualTime(j *judge) {
	late, what := j.v.Facts.Lateness.Max, "a wake-up"
	for _, h := range j.v.Facts.Hosts {
		if h.Lateness.Max > late {
			late, what = h.Lateness.Max, "a wake-up of "+h.Name
		}
		if h.Generator.Max > late {
			late, what = h.Generator.Max, "a message of "+h.Name
		}
	}
	if s := j.v.Facts.SampleLateness; s.Max > late {
		late, what = s.Max, "a sample of the queues"
	}
	n := j.packets(late)
	j.add(worst(n, exactLimit, notExactLimit),
		fmt.Sprintf("nothing is later than %.1f packet times of %v; INVALID beyond %.0f",
			exactLimit.Limit, j.packet, notExactLimit.Limit),
		"at most %v late: %s, %s packet times%s", late, what, figure(n, exactLimit, notExactLimit),
		where(missed(n, exactLimit, notExactLimit)))
}
