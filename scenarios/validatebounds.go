package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"sirdbed/capture/metric"
	"sirdbed/topo"
)

// validateBounds finds bounds that name what is not there. Gauges and counters
// are known only once the scenario has run.
func (s *Scenario) validateBounds() (errs Errors) {
	c := &boundCheck{Scenario: s, labels: map[string]Variant{}}
	for _, r := range s.runs() {
		c.labels[r.label] = r.variant
		c.names = append(c.names, r.label)
		if !slices.Contains(c.protocols, r.protocol) {
			c.protocols = append(c.protocols, r.protocol)
		}
	}
	for i := 0; i < len(s.Bounds) && len(errs) < maxErrors; i++ {
		if err := c.bound(&s.Bounds[i], fmt.Sprintf("bounds[%d]", i)); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// A boundCheck has what bounds may name.
type boundCheck struct {
	*Scenario
	labels    map[string]Variant // of runs, and the variant of each
	names     []string           // the labels in order
	protocols []string
}

func (s *boundCheck) bound(b *Bound, path string) *Error {
	switch {
	case b.Name == "":
		return s.src.errorIn(path+".name", "missing: say what is claimed")
	case b.Metric.Name == "":
		return s.src.errorIn(path+".metric", "missing: want one of %s", strings.Join(metric.Names(), ", "))
	case b.Min == nil && b.Max == nil:
		return s.src.errorIn(path, "%q has neither min nor max: it claims nothing", b.Name)
	case b.Min != nil && b.Max != nil && *b.Min > *b.Max:
		return s.src.errorIn(path+".min", "%v is above max, %v: nothing can meet it", *b.Min, *b.Max)
	}
	if err := s.validateSubject(b.Variant, b.Protocol, path); err != nil {
		return err
	}
	if err := s.validateFields(&b.Metric, path); err != nil {
		return err
	}
	if err := s.validateMetric(b.Variant, &b.Metric, path); err != nil {
		return err
	}
	if b.Minus != nil {
		if err := s.validateReference(b, b.Minus, path, path+".minus"); err != nil {
			return err
		}
	}
	if b.Over != nil {
		return s.validateReference(b, b.Over, path, path+".over")
	}
	return nil
}

// validateReference checks what the bound at path is compared with.
func (s *boundCheck) validateReference(b *Bound, r *Reference, path, own string) *Error {
	if err := s.validateSubject(r.Variant, r.Protocol, own); err != nil {
		return err
	}
	paths := []string{own}
	if r.Metric.Name == "" {
		paths = append(paths, path) // what it leaves out is as in the bound
	}
	m := r.against(b.Metric)
	if err := s.validateFields(&m, paths...); err != nil {
		return err
	}
	variant := r.Variant
	if variant == "" {
		variant = b.Variant
	}
	return s.validateMetric(variant, &r.Metric, own)
}

// validateFields checks that a metric has the fields and the statistic that are
// stated for it at any of the paths, and that none is missing.
func (s *boundCheck) validateFields(m *metric.Metric, paths ...string) *Error {
	at := func(field string) (string, bool) {
		for _, path := range paths {
			if s.has(path + "." + field) {
				return path + "." + field, true
			}
		}
		return paths[0] + "." + field, false
	}
	err := m.Check(func(field string) bool { _, ok := at(field); return ok })
	if err == nil {
		return nil
	}
	path, _ := at(err.Field)
	return s.src.errorIn(path, "%s%s", err.Reason, DidYouMean(err.Given, err.Choices))
}

// validateSubject checks that a variant or a protocol is named, not both, and that
// the protocol is one of the scenario's.
func (s *boundCheck) validateSubject(variant, protocol, path string) *Error {
	if protocol == "" {
		return nil
	}
	if variant != "" {
		return s.src.errorIn(path+".protocol", "given beside variant: want one of the two")
	}
	if !slices.Contains(s.protocols, protocol) {
		return s.src.errorIn(path+".protocol", "no variant runs %q: %s", protocol, hintOf(protocol, s.protocols))
	}
	return nil
}

// validateMetric checks that what a metric names is in the scenario.
func (s *boundCheck) validateMetric(variant string, m *metric.Metric, path string) *Error {
	for _, check := range []func(string, *metric.Metric, string) *Error{
		s.validateStream, s.validateHosts, s.validateSwitchAndPort,
	} {
		if err := check(variant, m, path); err != nil {
			return err
		}
	}
	return nil
}

// validateStream checks the names of a variant, "" for all, and of one of its
// streams.
func (s *boundCheck) validateStream(variant string, m *metric.Metric, path string) *Error {
	v, known := s.labels[variant]
	if variant != "" && !known {
		return s.src.errorIn(path+".variant", "no variant is called %q: %s", variant, hintOf(variant, s.names))
	}
	var streams []string
	for i := range s.Traffic {
		name := s.Traffic[i].Name
		if len(v.Traffic) == 0 || slices.Contains(v.Traffic, name) { // of no variant, all
			streams = append(streams, name)
		}
	}
	if m.Stream != "" && !slices.Contains(streams, m.Stream) {
		return s.src.errorIn(path+".stream", "no stream of it is called %q: %s", m.Stream, hintOf(m.Stream, streams))
	}
	return nil
}

func (s *boundCheck) validateHosts(_ string, m *metric.Metric, path string) *Error {
	hosts := []struct{ path, name string }{{path + ".host", m.Host}}
	for i, h := range m.Hosts {
		hosts = append(hosts, struct{ path, name string }{fmt.Sprintf("%s.hosts[%d]", path, i), h})
	}
	for _, h := range hosts {
		if _, ok := s.fabric.Host(h.name); h.name != "" && !ok {
			last := s.fabric.Hosts[len(s.fabric.Hosts)-1]
			return s.src.errorIn(h.path, "no host is called %q: hosts are %s to %s",
				h.name, s.fabric.HostName(0), s.fabric.HostName(last))
		}
	}
	return nil
}

func (s *boundCheck) validateSwitchAndPort(_ string, m *metric.Metric, path string) *Error {
	n, ok := s.fabric.Node(m.Switch)
	if !slices.Contains([]string{"", "leaf", "spine"}, m.Switch) && (!ok || n.Kind == topo.Host) {
		return s.src.errorIn(path+".switch",
			"no switch is called %q: want such as leaf1, or leaf or spine for all of them", m.Switch)
	}
	port, known := s.port(m.Port)
	ofHost := m.Port == "uplinks" || known && s.fabric.Nodes[port.Node].Kind == topo.Host
	if m.Name == "queue_bytes" && ofHost {
		return s.src.errorIn(path+".port",
			"queues of hosts are not sampled: use a switch's port, or exact_queue_bytes and the capture of a host")
	}
	if m.Port != "" && !known && !slices.Contains(metric.PortClasses(), m.Port) {
		return s.src.errorIn(path+".port", "no port is called %q: want such as %q, or downlinks, uplinks or core",
			m.Port, s.fabric.Downlink(0).Name)
	}
	return nil
}
