package fault

import "strings"

// docs are what events of each kind do, for people.
var docs = map[Kind]string{
	Blackhole: "What enters the link is lost.",
	Down: "The link has no carrier: what waits for it is lost too, and the switch forgets its routes until it is " +
		"up.",
	Rate:      "The link is slower, and the host's NIC knows.",
	Delay:     "The link is longer; nothing overtakes.",
	Drop:      "A share of the frames is lost.",
	Duplicate: "A share of the frames arrives twice.",
	Reorder:   "A share of the frames is late by a random part of delay (10us unless given): later ones overtake them.",
	Corrupt:   "A bit is flipped in a share of the frames, which the checksum has to find.",
	Kill: "The host loses all of its state. After restart it begins again, as another incarnation; without, it never " +
		"does.",
	Pause: "The host does nothing; frames wait for it, 4096 at most.",
}

// takes returns the fields of events of a kind besides at, and link or host: those that they need,
// and those that they may have.
func (k Kind) takes() (needs, may []string) {
	switch {
	case k == Kill:
		return nil, []string{"restart"}
	case k == Pause:
		return []string{"for"}, nil
	case k == Rate, k == Delay:
		return []string{string(k)}, []string{"for"}
	case k == Reorder:
		return []string{"share"}, []string{"delay", "for"}
	case k.random():
		return []string{"share"}, []string{"for"}
	}
	return nil, []string{"for"}
}

// example is an entry of a timeline.
func (k Kind) example() string {
	where, more := "link: h1-3", ""
	needs, _ := k.takes()
	if k.ofHost() {
		where = "host: h1-3"
	}
	values := map[string]string{"for": "100us", "rate": "10Gbps", "delay": "20us", "share": "0.01"}
	for _, field := range needs {
		more += ", " + field + ": " + values[field]
	}
	return "{at: 1ms, " + where + ", do: " + string(k) + more + "}"
}

// Doc is what events of a kind do, in a line or two.
func (k Kind) Doc() string { return docs[k] }

// Page is the help on a kind of event, in lines for a terminal.
func (k Kind) Page() []string {
	of, where := "a link", "link"
	if k.ofHost() {
		of, where = "a host", "host"
	}
	needs, may := k.takes()
	fields := "It needs " + strings.Join(append([]string{"at", where}, needs...), ", ") + "."
	if len(may) > 0 {
		fields += " It may have " + strings.Join(may, ", ") + "."
	}
	return []string{"Fault " + string(k) + ", of " + of, "", docs[k], "", fields, "", "  - " + k.example()}
}

// Doc is what faults are, in a line.
const Doc = "What goes wrong on purpose: a share of the frames all the time, or a timeline of links and hosts."

// Page is the help on faults, in lines for a terminal.
func Page() []string {
	lines := []string{
		"Faults of a scenario, or of a variant", "", Doc, "",
		"With keys and values, each is a share of the frames that a host receives, all the time:", "",
		"  faults: {drop: 0.01, duplicate: 0.001, reorder: 0.01, reorder_delay: 20us, corrupt: 0.001}", "",
		"As a list, faults is a timeline, in nominal time:", "",
		"  faults:",
		"    - {at: 1ms, for: 500us, link: h1-3, do: blackhole}",
		"    - {at: 3ms, restart: 1ms, host: h1-1, do: kill}", "",
		"at: when it begins.",
		"for: how long it lasts, to the end of the run unless given.",
		"link: a host's by its name (h1-3), any by both ends (leaf1<>spine1), one direction of it (leaf1>h1-3).",
		"host: the one that is killed or paused.", "",
		"What happens (do), and the fields that it needs besides:", "",
	}
	for _, k := range Kinds {
		name := string(k)
		if needs, _ := k.takes(); len(needs) > 0 {
			name += " (" + strings.Join(needs, ", ") + ")"
		}
		lines = append(lines, name+": "+docs[k])
	}
	return append(lines, "",
		"Engines: hosts and their links do all of this on every engine. Links between switches do on model; on "+
			"kernels they change rates, and with netem they are cut (blackhole) and change delays. Hosts that are "+
			"devices cannot fail. What an engine cannot do it names, and leaves the variant out.", "",
		"Results: lost packets are in facts.json, lost at ports and faults at hosts. Series and plots mark what "+
			"happened; sirdbed topo FILE lists it in order of time.")
}
