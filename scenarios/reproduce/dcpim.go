package reproduce

import (
	"encoding/json"

	"sirdbed/emu"
	"sirdbed/traffic"
)

// inItsSimulator are dcPIM's parameters that are not the defaults in its authors' simulator.
const inItsSimulator = `{"full_packets": true}`

// asInItsSimulator has dcPIM as the paper's numbers have it, which are of its authors'
// simulator: all data packets are full ones, and messages have no replies (baselines/dcpim,
// Full packets).
func asInItsSimulator(x *emu.Experiment, all *traffic.Stream) {
	x.Params = json.RawMessage(inItsSimulator)
	all.Reply, all.Latency = 0, ""
}
