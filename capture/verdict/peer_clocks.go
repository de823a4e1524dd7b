package verdict

import (
	"fmt"
	"slices"
	"strings"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/topo/units"
)

var clockLimit = Threshold{
	Of: "error of peers' clocks, as a share of the median one-way latency", Limit: 0.05, Unit: share,
	Level: results.Degraded,
	Why:   "Figures are those of the network if they are within 5 %. Round trips are timed by one clock.",
}

var peerClocks = Check{
	Name: "peer clocks",
	Asks: "Do the clocks of peers that joined agree with the run's?",
	How: "The peer of a device has its own machine's clock. Its offset from the run's is measured before and after " +
		"the run, by exchanges over the connection by which it joined: the error is at most half of the fastest " +
		"exchange's round trip, plus what the offset changed by in between. One-way latencies to and from such hosts " +
		"are off by at most that; those of requests with their replies are not.",
	Made: Made{"runs that peers of devices have joined", func(j *judge) bool {
		joined := func(h emu.HostFacts) bool { return h.Joined != nil }
		return j.v.Facts != nil && slices.ContainsFunc(j.v.Facts.Hosts, joined)
	}},
	Thresholds: []Threshold{clockLimit},
	Do: "Have messages to and from the peer answered (reply in the scenario), or join over a connection that is " +
		"faster and less loaded. Clocks that drift apart need NTP or PTP on both machines.",
	check: checkPeerClocks,
}

func checkPeerClocks(j *judge) {
	var found []string
	for i := range j.v.Facts.Hosts {
		h := &j.v.Facts.Hosts[i]
		if p := h.Joined; p != nil {
			found = append(found, fmt.Sprintf("%s is within %v (drift %v)", h.Name, p.ClockError, p.ClockDrift))
		}
	}
	text := strings.Join(found, ", ")
	var latencies []units.Time
	var off units.Time
	for i := range j.v.Messages {
		m := &j.v.Messages[i]
		if e := j.clockError(m); m.Class == results.Measured && m.Reply < 0 && e > 0 {
			latencies, off = append(latencies, m.Latency()), max(off, e)
		}
	}
	limit := fmt.Sprintf("at most %s of the median latency one way", clockLimit.number())
	if len(latencies) == 0 {
		j.add(results.Pass, limit, "%s; no latency that was measured is one way", text)
		return
	}
	slices.Sort(latencies)
	median := max(1, latencies[len(latencies)/2])
	x := float64(off) / float64(median)
	j.add(clockLimit.level(x), limit, "%s; median one way %v, off by at most %s%s", text, median, about(x),
		where("", missed(x, clockLimit)))
}

// clockError is what a message's latency, if it is one way, may be off by for the clocks of
// both its ends.
func (j *judge) clockError(m *results.Message) units.Time {
	if j.v.Facts == nil {
		return 0
	}
	return j.v.Facts.ClockError(j.v.Fabric.HostName(m.Src)) + j.v.Facts.ClockError(j.v.Fabric.HostName(m.Dst))
}
