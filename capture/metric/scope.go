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

// notKept is the error of what summaries of a run do not have, where there is no more: of a
// folded variant. instead says what to do, "" if there is nothing.
func notKept(v *results.Variant, what, instead string) error {
	if !v.Folded {
		return fmt.Errorf("the results have no %s", what)
	}
	if instead != "" {
		instead += ", or "
	}
	return fmt.Errorf("points do not keep %s: %srun the experiment with sirdbed run", what, instead)
}

// wholeWindow reports whether m is over the measured window and all hosts.
func (m *Metric) wholeWindow() bool {
	return m.From == nil && m.To == nil && m.Host == "" && len(m.Hosts) == 0
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
