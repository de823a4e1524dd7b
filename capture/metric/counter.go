package metric

import (
	"maps"
	"slices"

	"sirdbed/capture/results"
)

var counter = Descriptor{
	Name:   "counter",
	Doc:    "What a protocol counted over the run, summed over hosts.",
	Fields: []string{"counter", "host", "hosts"},
	Needs:  []string{"counter"},
	eval:   (*Metric).counter,
}

func (m *Metric) counter(v *results.Variant) (float64, error) {
	if _, ok := v.Counters[m.Counter]; !ok {
		return 0, missing("counter", m.Counter, slices.Sorted(maps.Keys(v.Counters)))
	}
	if v.Folded { // of which Kept has the sums alone
		if !m.wholeWindow() {
			return 0, notKept(v, "counters of single hosts", "leave out host and hosts")
		}
		return float64(v.Counters[m.Counter]), nil
	}
	hosts, err := m.hosts(v)
	sum := 0.0
	for _, h := range hosts {
		sum += float64(v.Counter(h, m.Counter))
	}
	return sum, err
}
