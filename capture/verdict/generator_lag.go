package verdict

import (
	"fmt"

	"sirdbed/capture/results"
	"sirdbed/emu"
)

var (
	lagLimit = Threshold{
		Of: "p99 of messages", Limit: 2, Unit: "packet times", Level: results.Degraded,
		Why: "Latency counts from a message's nominal arrival, so lag is part of it: two packet times are little " +
			"beside any round trip.",
	}
	farBehindLimit = Threshold{
		Of: "p99 of messages", Limit: 50, Unit: "packet times", Level: results.Invalid,
		Why: "Latencies of small messages are then mostly lag.",
	}
)

var generatorLag = Check{
	Name: "generator lag",
	Asks: "Were messages handed to the transport when they arrived?",
	How: "Each message has a nominal time of arrival at the sender's application. How much later it is handed to the " +
		"transport is measured at each host; the worst host counts. Hosts with fewer than 100 messages are pooled, " +
		"without the latest of these messages: one pause of the machine is not a percentile. Packet times are those " +
		"of the check wake-up lateness.",
	Made:       stretched,
	Thresholds: []Threshold{lagLimit, farBehindLimit},
	Do:         "The same as for wake-up lateness: a larger --dilation, or a machine with less to do.",
	check:      checkGeneratorLag,
}

func checkGeneratorLag(j *judge) {
	lag, slowest := j.v.Facts.FewMessages, "hosts of few messages"
	for _, h := range j.v.Facts.Hosts {
		if h.Generator.P99 >= lag.P99 && h.Generator.Count >= emu.FewMessages {
			lag, slowest = h.Generator, h.Name
		}
	}
	if lag.Count == 0 {
		return
	}
	n := j.packets(lag.P99)
	j.add(worst(n, lagLimit, farBehindLimit),
		fmt.Sprintf("p99 is at most %.0f packet times; INVALID beyond %.0f", lagLimit.Limit, farBehindLimit.Limit),
		"p99 %v, %s packet times%s", lag.P99, figure(n, lagLimit, farBehindLimit),
		where(slowest, missed(n, lagLimit, farBehindLimit)))
}
