package verdict

import (
	"fmt"

	"sirdbed/capture/results"
	"sirdbed/emu"
)

var (
	stallLimit = Threshold{
		Of: "share of the window that one host or port stalled", Limit: 0.01, Unit: share, Level: results.Degraded,
		Why: "What was not done in that time is missing from goodput, or late: medians move by a few percent.",
	}
	delayedLimit = Threshold{
		Of: "share of all packets whose ends, or whose port, stalled", Limit: 0.25, Unit: share,
		Level: results.Invalid,
		Why: "Of 100 runs on a machine that was disturbed on purpose, all beyond this were more than 5 % off in " +
			"median latency, goodput or mean queue.",
	}
)

var stalls = Check{
	Name: "stalls",
	Asks: "Did a host or a port stall?",
	How: "A host's loop stalls from when a packet, a message or a timer is due until it wakes up, if that is longer " +
		"than a full packet takes, or in real time than what hosts make good. A switch's port stalls for the time by " +
		"which it fell behind its link's rate while packets waited in it, by the samples of queues. Each is added up " +
		"over the window. One long stall among many punctual wake-ups is in no percentile of lateness, but it is " +
		"here. What all stalls together can have done follows from the packets that they delayed, each of which has " +
		"two ends: stalls of a host that sends or receives half of all packets count half, and the sum over hosts, " +
		"at most all packets, assumes that no two stalled at once.",
	Made:       onKernel,
	Thresholds: []Threshold{stallLimit, delayedLimit},
	Do: "Something else had the processor: other processes, other virtual machines (see the check CPU steal), a " +
		"debugger, a limit on sirdbed's cgroup. Run again on a machine with less to do, with a larger --dilation, or " +
		"with --engine virtual.",
	check: checkStalls,
}

func checkStalls(j *judge) {
	from, to := j.v.Experiment.Window()
	window, sent := float64(to-from), 0.0
	for i := range j.v.Facts.Hosts {
		sent += float64(j.v.Facts.Hosts[i].Sent)
	}
	if window <= 0 || sent == 0 {
		return
	}
	var most emu.Stalls
	name, measured := "", false
	// delayed is the share of all packets that the stalls of some hosts or ports delayed.
	look := func(what string, s *emu.Stalls, packets int64) (delayed float64) {
		if s == nil {
			return 0
		}
		measured = true
		if s.Total > most.Total {
			most, name = *s, what
		}
		return float64(s.Total) / window * float64(packets) / sent
	}
	hosts, ports := 0.0, 0.0
	for i := range j.v.Facts.Hosts {
		h := &j.v.Facts.Hosts[i]
		hosts += look(h.Name, h.Stalls, h.Sent+h.Received)
	}
	unwatched := "; ports were not watched, as queues were not sampled"
	for i := range j.v.Facts.Ports {
		p := &j.v.Facts.Ports[i]
		ports += look(p.Name, p.Stalls, p.Packets)
		if p.Stalls != nil {
			unwatched = ""
		}
	}
	if !measured {
		return
	}
	n, delayed := float64(most.Total)/window, min(1, max(hosts, ports))
	longest := ""
	if most.Total > 0 {
		longest = fmt.Sprintf("%s, at most %v at once", name, most.Longest)
	}
	j.add(stallLimit.level(n).Worse(delayedLimit.level(delayed)),
		fmt.Sprintf("at most %s of the window; INVALID if they delayed more than %s of all packets",
			stallLimit.number(), delayedLimit.number()),
		"%s of the window%s; they delayed %s of all packets%s%s", figure(n, stallLimit),
		where(longest, missed(n, stallLimit)), figure(delayed, delayedLimit), where(missed(delayed, delayedLimit)),
		unwatched)
}
