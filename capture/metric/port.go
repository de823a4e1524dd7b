package metric

import (
	"fmt"
	"maps"
	"slices"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/topo"
)

// portClasses are the classes of ports that port may name.
var portClasses = map[string]func(*topo.Fabric, *topo.Port) bool{
	"downlinks": func(f *topo.Fabric, p *topo.Port) bool { return f.Nodes[p.Peer].Kind == topo.Host },
	"uplinks":   func(f *topo.Fabric, p *topo.Port) bool { return f.Nodes[p.Node].Kind == topo.Host },
	"core":      func(_ *topo.Fabric, p *topo.Port) bool { return p.Core },
}

// PortClasses lists the classes of ports that the field port may name.
func PortClasses() []string { return slices.Sorted(maps.Keys(portClasses)) }

// ports resolves Port, all ports if it is not given.
func (m *Metric) ports(v *results.Variant) (list []*topo.Port, err error) {
	class := portClasses[m.Port]
	var have []string
	for i := range v.Fabric.Ports {
		p := &v.Fabric.Ports[i]
		have = append(have, p.Name)
		if m.Port == "" || p.Name == m.Port || (class != nil && class(v.Fabric, p)) {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil, missing("port", m.Port, append(PortClasses(), have...))
	}
	return list, nil
}

var drops = packets("drops", "Packets that ports dropped for lack of room in their queues, over the run.",
	func(p *emu.PortFacts) int64 { return p.Drops })

var marks = packets("marks", "Packets that ports marked (ECN), over the run.",
	func(p *emu.PortFacts) int64 { return p.Marks })

var creditDrops = packets("credit_drops", "Credits that ports dropped in their credit class, over the run.",
	func(p *emu.PortFacts) int64 { return p.CreditDrops })

// packets describes a count that each port has, as the engine found it.
func packets(name, doc string, count func(*emu.PortFacts) int64) Descriptor {
	return Descriptor{
		Name: name, Doc: doc + " The sum over the ports given, or over all.", Fields: []string{"port"},
		eval: func(m *Metric, v *results.Variant) (float64, error) { return m.countPackets(v, count) },
	}
}

func (m *Metric) countPackets(v *results.Variant, count func(*emu.PortFacts) int64) (float64, error) {
	if v.Folded {
		return countOfAll(v, m.Port, count)
	}
	if v.Facts == nil {
		return 0, fmt.Errorf("facts.json is missing, which counts them")
	}
	ports, err := m.ports(v)
	if err != nil {
		return 0, err
	}
	asked := map[string]bool{}
	for _, p := range ports {
		asked[p.Name] = true
	}
	sum, found := 0.0, false
	var have []string
	for i := range v.Facts.Ports {
		p := &v.Facts.Ports[i]
		have = append(have, p.Name)
		if asked[p.Name] {
			found = true
			sum += float64(count(p))
		}
	}
	if !found && m.Port != "" {
		return 0, missing("counted port", m.Port, have)
	}
	return sum, nil
}

// countOfAll is the count of a point, which keeps the sum over all ports alone.
func countOfAll(v *results.Variant, port string, count func(*emu.PortFacts) int64) (sum float64, err error) {
	switch {
	case port != "":
		return 0, notKept(v, "counts of single ports", "leave port out")
	case v.Facts == nil:
		return 0, notKept(v, "counts of ports", "")
	}
	for i := range v.Facts.Ports {
		sum += float64(count(&v.Facts.Ports[i]))
	}
	return sum, nil
}
