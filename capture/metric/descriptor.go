package metric

import (
	"fmt"
	"slices"
	"strings"

	"sirdbed/capture/results"
)

// A Descriptor is all there is to know about a metric.
type Descriptor struct {
	Name   string
	Doc    string   // what it is
	Unit   string   // of its value; "" for counts, shares and gauges
	Fields []string // that it takes besides stat, of those in Fields
	Needs  []string // of these at least one has to be given
	Either []string // of these at most one may be given

	// Stats are the statistics that it has, none if it is a single figure.
	// Default is the one that it is unless stat is given; "": stat has to be.
	Stats   []string
	Default string

	eval func(*Metric, *results.Variant) (float64, error)
}

// descriptors is the table of metrics, in the order in which help lists them.
var descriptors = []Descriptor{
	goodput, offered, delivered, share,
	latency, slowdown, messages,
	queueBytes, exactQueueBytes,
	gaugeMean, gaugeSum, counter,
	drops, marks, creditDrops,
	unstable,
}

// Descriptors returns the table of metrics.
func Descriptors() []Descriptor { return slices.Clone(descriptors) }

// Find returns the Descriptor of a metric.
func Find(name string) (*Descriptor, bool) {
	i := slices.IndexFunc(descriptors, func(d Descriptor) bool { return d.Name == name })
	if i < 0 {
		return nil, false
	}
	return &descriptors[i], true
}

// Names lists the metrics.
func Names() (names []string) {
	for i := range descriptors {
		names = append(names, descriptors[i].Name)
	}
	return names
}

// Takes reports whether a field may be given besides the metric's name.
func (d *Descriptor) Takes(field string) bool {
	return slices.Contains(d.Fields, field) || (field == statField && len(d.Stats) > 0)
}

// takes lists the fields that may be given.
func (d *Descriptor) takes() string {
	list := slices.Clone(d.Fields)
	if len(d.Stats) > 0 {
		list = append(list, statField)
	}
	if len(list) == 0 {
		return "no other field"
	}
	return strings.Join(list, ", ")
}

// Page is the help on the metric, in lines for a terminal.
func (d *Descriptor) Page() []string {
	lines := []string{"Metric " + d.Name, "", d.Doc}
	if d.Unit != "" {
		lines = append(lines, "Unit: "+d.Unit+".")
	}
	if len(d.Stats) > 0 {
		stats := "stat: one of " + strings.Join(d.Stats, ", ") + "; "
		if d.Default == "" {
			stats += "required."
		} else {
			stats += d.Default + " unless given."
		}
		lines = append(lines, "", stats)
	}
	for _, name := range d.Fields {
		f, _ := FindField(name)
		lines = append(lines, "", name+": "+f.Doc)
	}
	if len(d.Needs) > 0 {
		lines = append(lines, "", fmt.Sprintf("Required: %s.", strings.Join(d.Needs, " or ")))
	}
	return lines
}
