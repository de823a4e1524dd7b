package metric

import "slices"

// A Field is a field of metrics, in scenario files.
type Field struct {
	Name   string
	Doc    string
	Values []string // that it may have, where they are known; else nil
}

// statField is the field that a metric takes if it has statistics.
const statField = "stat"

// Fields are all that metrics may take, in the order in which help lists them. It
// does not change.
var Fields = []Field{
	{Name: statField, Doc: "Which statistic; each metric has a default of its own."},
	{Name: "stream", Doc: "Stream by name; all streams unless given."},
	{
		Name:   "group",
		Doc:    "Size group of a slowdown: A < 1460 <= B < 100,000 <= C < 800,000 <= D bytes; all unless given.",
		Values: []string{"all", "A", "B", "C", "D"},
	},
	{
		Name: "definition",
		Doc: "Definition of slowdown: paper (payload and propagation, the default), exact (headers and " +
			"store-and-forward too) or acked (that until the sender's acknowledgement, over a round trip; of dcpim).",
		Values: []string{"paper", "exact", "acked"},
	},
	{Name: "host", Doc: "Host by name. Of a queue: the leaf's port towards it."},
	{Name: "hosts", Doc: "Hosts by name; all unless given."},
	{
		Name: "port",
		Doc: "Port by name, such as leaf1>h1-2, or a class of ports: downlinks (leaf to host), core (leaf to spine " +
			"and back), uplinks (hosts' own, whose queues are not sampled).",
	},
	{Name: "switch", Doc: "Switch by name, or leaf or spine for all of a kind; all switches unless given."},
	{Name: "gauge", Doc: "Gauge by name."},
	{Name: "counter", Doc: "Counter by name."},
	{
		Name: "from",
		Doc:  "Beginning of the span looked at, from the start of the run; the measured window's unless given.",
	},
	{
		Name: "to",
		Doc:  "End of the span looked at, from the start of the run; the measured window's unless given.",
	},
}

// FindField returns a field by name.
func FindField(name string) (Field, bool) {
	i := slices.IndexFunc(Fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return Field{}, false
	}
	return Fields[i], true
}
