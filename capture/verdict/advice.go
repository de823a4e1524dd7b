package verdict

import "sirdbed/emu"

// Advice is what a user can do about a run of an engine that does not pass the
// check. Check.Do is that for the engine real, and for others where it fits.
func (c *Check) Advice(engine emu.EngineName) string {
	if text, ok := adviceOn[engine][c.Name]; ok {
		return text
	}
	return c.Do
}

const (
	seeVirtualTime = "Nothing takes time by a virtual clock: see the check virtual time."
	seePath        = "Capture the nodes on the way (capture: [...] in the scenario) to see where packets end."
)

// adviceOn is advice where that for real does not fit: the model has no kernel, no
// processes and no lateness, and in a guest no work takes time and nobody else uses
// the network.
var adviceOn = map[emu.EngineName]map[string]string{
	emu.Model: {
		run.Name: "See why it ended: it is part of the finding. Unless it was interrupted, or its disk was full, the " +
			"same seed ends the same way.",
		hosts.Name:   "A protocol that panics ends the run: the finding of the check run has its trace.",
		hostLog.Name: "A killed run cannot finish its logs; neither can one whose disk was full. Run it again.",
		integrity.Name: "It is a bug, of the protocol or of the model: the same seed shows it again. Look at the " +
			"first message named.",
		fastestMessage.Name: "It is a bug, of the model or of the unloaded latency (see sirdbed topo): the same seed " +
			"shows it again.",
		conservation.Name: "It is a bug, of the protocol or of the model. " + seePath,
	},
	emu.Virtual: {
		fastestMessage.Name: "See the checks link rate, rounded rates and departures. If they pass, it is a bug.",
		conservation.Name:   "It is a bug. " + seePath,
		socketDrops.Name:    "It is a bug: a host's ring was full, though a host empties it in no time.",
		kernelDrops.Name:    "It is a bug: the backlog of the guest's kernel is too short for this scenario.",
		linkDrops.Name:      "The guest may be out of memory: run fewer hosts, or less traffic.",
		captureDrops.Name:   "Capture fewer nodes, or keep less of each frame (snap_len).",
		kernelTimers.Name:   "Use a --dilation of 10 or less, or none: the engine then chooses one.",
		wakeUps.Name:        seeVirtualTime,
		generatorLag.Name:   seeVirtualTime,
		stalls.Name:         seeVirtualTime,
		queueSampling.Name:  seeVirtualTime,
		cpuSteal.Name:       seeVirtualTime,
		busiestLoop.Name:    seeVirtualTime,
		departures.Name:     "It is a bug of the engine's ports.",
	},
}
