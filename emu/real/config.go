package real

import (
	"cmp"
	"encoding/json"

	"sirdbed/emu"
	"sirdbed/sirdnode/node"
	"sirdbed/topo"
)

// nodeConfig is what the process of a host is told, in one line.
func (r *run) nodeConfig(h topo.HostID) string {
	from, to := r.x.Window()
	cfg := node.Config{
		Self: h, Topology: r.x.Topology, Protocol: r.x.Protocol, Params: r.x.Params, Streams: r.x.Streams,
		Seed: r.x.Seed, Faults: r.x.Faults, From: from, To: to, End: r.x.End(), GaugeEvery: r.x.GaugeEvery,
		CatchUp:  catchUpPackets * r.topology.Uplink(h).Rate.TimeFor(r.topology.FullFrame()),
		RxFrames: cmp.Or(r.engine.RxFrames, node.StallFrames), Interface: r.topology.Uplink(h).Iface, Dilation: r.facts.Dilation, Hold: r.fabric.Wires() == emu.HostsHold,
	}
	b, err := json.Marshal(cfg)
	if err != nil {
		panic(err) // all of it is plain data
	}
	return string(b)
}

// catchUpPackets is how many full packets' time a host that woke up late makes
// good. What it sends at once, its port spaces.
const catchUpPackets = 8
