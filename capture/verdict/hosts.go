package verdict

import "sirdbed/capture/results"

var hosts = Check{
	Name: "hosts",
	Asks: "Did every host finish in good order?",
	How: "A host that ends in good order reports its totals: packets sent and received, and how late its loop was. " +
		"One that died, or was killed, reports nothing, so neither its packets nor its lateness can be judged.",
	Made: withFacts,
	Do: "A host that dies leaves its standard error in the finding of the check run: a panic of the protocol, or a " +
		"kill.",
	check: checkHosts,
}

func checkHosts(j *judge) {
	if lost := j.unfinished(); len(lost) > 0 {
		j.add(results.Invalid, "all hosts finish", "%d of %d hosts did not finish: %s",
			len(lost), len(j.v.Facts.Hosts), shorten(lost))
	}
}

// unfinished are the hosts whose totals are not known.
func (j *judge) unfinished() (names []string) {
	for _, h := range j.v.Facts.Hosts {
		if !h.Finished {
			names = append(names, h.Name)
		}
	}
	return names
}
