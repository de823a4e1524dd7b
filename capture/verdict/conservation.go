package verdict

import (
	"fmt"

	"sirdbed/capture/results"
)

var conservation = Check{
	Name: "conservation",
	Asks: "Is every packet accounted for?",
	How: "The packets that hosts sent must equal those that hosts received plus those that ports, rings, the kernel " +
		"and interfaces report as dropped. When a run ends, some are still under way: at most those in the last " +
		"samples of the queues, one in transmission at each port, and as many as each wire holds. Runs end when " +
		"wires are empty, so if the wires' share is missing too, packets were lost, or a host sent some after the " +
		"end: DEGRADED, unless kernels send or a timeline of faults makes links longer. With kernel TCP, packets are " +
		"TCP segments, as the hosts' kernels count them. With programs (apps) there are two classes: the transport's " +
		"packets, which hosts count, and those of all nodes' kernels, which the kernels count. Ports count both, so " +
		"their sum is judged; of the transport's alone, no more may arrive than were sent. What links lose in a " +
		"timeline of faults is counted too; what arrives at a killed or paused host counts as received. More or " +
		"fewer packets mean that the network lost or made some that nobody counted. Nobody reports what an opaque " +
		"device sent and received.",
	Made: closed,
	Do: "It is a bug, or another program uses the fabric's interfaces. Capture the nodes on the way (capture: " +
		"[...] in the scenario) to see where packets end.",
	check: checkConservation,
}

func checkConservation(j *judge) {
	c := j.v.Conservation
	limit := "sent = received + counted drops, in flight at the end aside"
	if j.kernel() {
		limit = "TCP segments, as the hosts' kernels count them: " + limit
	}
	if j.kernel() && c.Kernel != nil {
		limit = "sent = received + counted drops, in flight at the end aside"
	}
	found := fmt.Sprintf("%d sent, %d received, %d dropped by queue limits, %d credits dropped, %d lost elsewhere",
		c.Sent, c.Received, c.Drops, c.Credits, c.Elsewhere)
	if c.Faults > 0 {
		found += fmt.Sprintf(", %d by faults of links", c.Faults)
	}
	made := int64(0)
	if c.Kernel != nil {
		found += fmt.Sprintf("; of these the kernels' %d sent, %d received", c.Kernel.Sent, c.Kernel.Received)
		made = (c.Received - c.Kernel.Received) - (c.Sent - c.Kernel.Sent)
	}
	switch {
	case made > 0:
		j.add(results.Invalid, limit, "%s: %d more of the transport's than were sent", found, made)
	case c.Missing < 0:
		j.add(results.Invalid, limit, "%s: %d more than were sent", found, -c.Missing)
	case c.Missing > c.InFlight:
		j.add(results.Invalid, limit, "%s: %d are missing, at most %d can have been in flight",
			found, c.Missing, c.InFlight)
	case c.Missing > c.Drained:
		j.add(results.Degraded, limit, "%s: %d are missing, and a drained fabric has at most %d",
			found, c.Missing, c.Drained)
	default:
		j.add(results.Pass, limit, "%s, %d in flight at the end", found, c.Missing)
	}
}
