package verdict

import (
	"fmt"

	"sirdbed/capture/results"
)

var (
	lateLimit = Threshold{
		Of: "p99 of wake-ups", Limit: 1, Unit: "packet times", Level: results.Degraded,
		Why: "A loop that wakes up a packet time late lets at most one packet be late, which is what the " +
			"store-and-forward of one more hop would do.",
	}
	tailLimit = Threshold{
		Of: "p99.9 of wake-ups", Limit: 10, Unit: "packet times", Level: results.Degraded,
		Why: "A tenth of a per cent of late packets moves no median, but it is in the tail of latencies.",
	}
	farTooLateLimit = Threshold{
		Of: "p99 of wake-ups", Limit: 10, Unit: "packet times", Level: results.Invalid,
		Why: "The pace of senders is then the machine's, not the protocol's.",
	}
)

var wakeUps = Check{
	Name: "wake-up lateness",
	Asks: "Did the hosts' loops wake up in time?",
	How: "A host's loop sleeps until something is due: a packet to be sent, a timer, a message from the " +
		"application. How late it then is, in nominal time, is measured each time. It is counted in packet times: " +
		"how long a full-size packet takes on the fastest host link. The verdict is on all hosts together or on " +
		"the worst of them, whichever is worse.",
	Made:       onKernel,
	Thresholds: []Threshold{lateLimit, tailLimit, farTooLateLimit},
	Do: "Use a larger --dilation, which makes each packet take longer by the machine's clock, a machine with more " +
		"processors or less to do, or --engine virtual, where nothing is late.",
	check: checkWakeUps,
}

func checkWakeUps(j *judge) {
	worst, name := j.v.Facts.Lateness, "all hosts"
	for _, h := range j.v.Facts.Hosts {
		if h.Lateness.Count > 0 && h.Lateness.P99 > worst.P99 {
			worst, name = h.Lateness, h.Name
		}
	}
	limit := fmt.Sprintf("p99 %.0f, p99.9 %.0f packet times of %v; INVALID beyond p99 %.0f",
		lateLimit.Limit, tailLimit.Limit, j.packet, farTooLateLimit.Limit)
	if worst.Count == 0 {
		j.add(results.Degraded, limit, "it was not measured")
		return
	}
	p99, tail := j.packets(worst.P99), j.packets(worst.P999)
	switch level := lateLimit.level(p99).Worse(tailLimit.level(tail)).Worse(farTooLateLimit.level(p99)); level {
	case results.Invalid:
		j.add(level, limit, "p99 %v, %.1f packet times (%s)", worst.P99, p99, name)
	case results.Degraded:
		j.add(level, limit, "p99 %v, %.1f packet times, p99.9 %v (%s)", worst.P99, p99, worst.P999, name)
	default:
		j.add(level, limit, "p99 %v, %.2f packet times, p99.9 %v", worst.P99, p99, worst.P999)
	}
}
