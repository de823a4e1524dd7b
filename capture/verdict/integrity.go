package verdict

import "sirdbed/capture/results"

var integrity = Check{
	Name: "integrity",
	Asks: "Was each message delivered once, with the bytes that were sent?",
	How: "The logs of a message's sender and receiver are compared: it must be offered before it is delivered, be " +
		"delivered once (if a host was killed: once in each of its lives), with the same size and tag, and be " +
		"delivered if it was acknowledged. Hosts fill payload with a pattern and check it on arrival; a packet with " +
		"other bytes is counted as payload_mismatches. Any violation is a bug, of the protocol's code or of the " +
		"testbed, and no figure of such a run can be trusted.",
	Made: always,
	Do: "It is a bug: reproduce it with the same seed on --engine model, where every run is the same, and look at " +
		"the first message named.",
	check: checkIntegrity,
}

func checkIntegrity(j *judge) {
	const limit = "each message arrives once, each byte as it was sent"
	if texts := j.v.ProblemsOf(results.Integrity); len(texts) > 0 {
		j.add(results.Invalid, limit, "%s", shorten(texts))
		return
	}
	if wrong := j.v.Counters["payload_mismatches"]; wrong > 0 {
		j.add(results.Invalid, limit, "%d packets carried bytes that were not sent", wrong)
		return
	}
	j.add(results.Pass, limit, "%d messages", j.v.MessageCount)
}
