package reproduce

import (
	"encoding/json"

	"sirdbed/emu"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// inItsSimulator are dcPIM's parameters that are not the defaults in its authors' simulator.
const inItsSimulator = `{"full_packets": true, "released_order": true}`

// linkDelay is that of every link in there.
const linkDelay = 650 * units.Nanosecond

// asInItsSimulator has dcPIM as the paper's numbers have it, which are of its authors'
// simulator: all data packets are full ones, a sender's queue is in no order, messages have no
// replies and arrive by Poisson, and links have another delay (baselines/dcpim, Parameters,
// Full packets, Released order).
func asInItsSimulator(x *emu.Experiment, all *traffic.Stream) {
	x.Params = json.RawMessage(inItsSimulator)
	all.Reply, all.Latency, all.Arrivals = 0, "", traffic.ArrivalsPoisson
	x.Topology.HostDelay, x.Topology.CoreDelay = linkDelay, linkDelay
}
