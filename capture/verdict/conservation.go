package verdict

import (
	"fmt"

	"sirdbed/capture/results"
)

var conservation = Check{
	Name: "conservation",
	Asks: "Is every packet accounted for?",
	How: "Packets that hosts sent have to be those that hosts received and those that ports, rings, the kernel and " +
		"interfaces say that they dropped. When a run ends packets are still under way: at most those in the last " +
		"samples of the queues, one in transmission at each port, and as many as each wire holds. Runs end when " +
		"wires are empty, so where the wires' share is missing too, packets were lost, or a host sent some after " +
		"the end: DEGRADED, unless kernels send or a timeline of faults makes links longer. With a protocol " +
		"of the kernel packets are TCP segments, as the hosts' kernels count them. With programs (apps) there are " +
		"two classes: the transport's packets, which hosts count, and those of all nodes' kernels, which these " +
		"count. Ports count both, so the sum is judged, and the transport's by themselves as far as nothing may " +
		"arrive that was not sent. What links lose in the course of a timeline of faults is " +
		"counted as well; what arrives at a host that was killed or paused counts as received. More or fewer packets " +
		"mean that the network lost or made some that nobody counts. What an opaque device of the machine sent and " +
		"received, " +
		"nobody reports.",
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
