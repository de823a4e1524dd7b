package verdict

import (
	"fmt"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/topo/units"
)

var (
	lateLimit = Threshold{
		Of: "p99 of wake-ups", Limit: 1, Unit: "packet times", Level: results.Degraded,
		Why: "A loop that wakes up a packet time late delays at most one packet, by what store-and-forward at one " +
			"more hop would cost.",
	}
	tailLimit = Threshold{
		Of: "p99.9 of wake-ups", Limit: 10, Unit: "packet times", Level: results.Degraded,
		Why: "A tenth of a percent of late packets moves no median, but shows in the tail of latencies.",
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
		"how long a full-size packet takes on the fastest host link. Each percentile is that of all hosts " +
		"together or of the host where it is worst, whichever is worse.",
	Made:       stretched,
	Thresholds: []Threshold{lateLimit, tailLimit, farTooLateLimit},
	Do: "Use a larger --dilation, which makes each packet take longer by the machine's clock, a machine with more " +
		"processors or less to do, or --engine virtual, where nothing is late.",
	check: checkWakeUps,
}

func checkWakeUps(j *judge) {
	// The host with the latest wake-ups may have few of them, so that its tail
	// need not be the longest: each figure is of the host where it is worst.
	late, tail := lateness{name: "all hosts"}, lateness{name: "all hosts"}
	measured := false
	look := func(l emu.Lateness, name string) {
		if l.Count == 0 {
			return
		}
		measured = true
		late.raise(l.P99, name)
		tail.raise(l.P999, name)
	}
	look(j.v.Facts.Lateness, "all hosts")
	for _, h := range j.v.Facts.Hosts {
		look(h.Lateness, h.Name)
	}
	limit := fmt.Sprintf("p99 is at most %.0f, p99.9 at most %.0f packet times of %v; INVALID beyond p99 %.0f",
		lateLimit.Limit, tailLimit.Limit, j.packet, farTooLateLimit.Limit)
	if !measured {
		j.add(results.Degraded, limit, "it was not measured")
		return
	}
	p99, p999 := j.packets(late.time), j.packets(tail.time)
	j.add(worst(p99, lateLimit, farTooLateLimit).Worse(tailLimit.level(p999)), limit,
		"p99 %v, %s packet times%s; p99.9 %v, %s%s",
		late.time, figure(p99, lateLimit, farTooLateLimit), where(late.name, missed(p99, lateLimit, farTooLateLimit)),
		tail.time, figure(p999, tailLimit), where(tail.name, missed(p999, tailLimit)))
}

// A lateness is a figure of how late something was, and where.
type lateness struct {
	time units.Time
	name string
}

// raise takes over a figure that is larger.
func (l *lateness) raise(t units.Time, name string) {
	if t > l.time {
		l.time, l.name = t, name
	}
}
