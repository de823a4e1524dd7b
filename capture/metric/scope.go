package metric

import (
	"fmt"

	"sirdbed/capture/results"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// hosts resolves Host and Hosts, all hosts if neither is given.
func (m *Metric) hosts(v *results.Variant) ([]topo.HostID, error) {
	names := m.Hosts
	if m.Host != "" {
		names = append([]string{m.Host}, names...)
	}
	if len(names) == 0 {
		return v.Fabric.Hosts, nil
	}
	var list []topo.HostID
	for _, name := range names {
		h, err := hostOf(v, name)
		if err != nil {
			return nil, err
		}
		list = append(list, h)
	}
	return list, nil
}

func hostOf(v *results.Variant, name string) (topo.HostID, error) {
	if h, ok := v.Fabric.Host(name); ok {
		return h, nil
	}
	var have []string
	for _, h := range v.Fabric.Hosts {
		have = append(have, v.Fabric.HostName(h))
	}
	return 0, missing("host", name, have)
}

// span resolves From and To.
func (m *Metric) span(v *results.Variant) (from, to units.Time, err error) {
	from, to = v.From, v.To
	if m.From != nil {
		from = *m.From
	}
	if m.To != nil {
		to = *m.To
	}
	if to <= from {
		err = fmt.Errorf("nothing lies between %v and %v", from, to)
	}
	return from, to, err
}
