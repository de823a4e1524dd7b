package verdict

import "sirdbed/capture/results"

var corruption = Check{
	Name: "corruption",
	Asks: "Were packets damaged other than on purpose?",
	How: "Each packet carries a CRC32C, and receivers reject those whose bytes do not match. A scenario may damage " +
		"packets on purpose (faults): exactly these must be found, except those lost after a link damaged them. The " +
		"check is reported only if there is a damaged packet of either kind.",
	Made:  onKernel,
	Do:    "It is a bug, of the testbed or of the machine's memory.",
	check: checkCorruption,
}

func checkCorruption(j *judge) {
	var found, meant int64
	for _, h := range j.v.Facts.Hosts {
		found += h.Corrupt
		meant += h.Flipped
	}
	dropped := int64(0) // what may have been lost before it was found
	if j.v.Experiment.Timeline.Corrupts() {
		dropped = j.v.Conservation.Drops + j.v.Conservation.Faults
		for _, h := range j.v.Facts.Hosts {
			dropped += h.Faults
		}
	}
	const limit = "as many are found as were damaged on purpose"
	switch {
	case found > meant:
		j.add(results.Invalid, limit, "%d packets failed their checksum, %d were damaged on purpose", found, meant)
	case found+dropped < meant:
		j.add(results.Invalid, limit, "%d packets were damaged on purpose, %d failed their checksum", meant, found)
	case meant > 0:
		j.add(results.Pass, limit, "%d packets, found by their checksum", found)
	}
}
