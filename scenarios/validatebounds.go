package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"sirdbed/capture/metric"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// validateBounds finds bounds that name what is not there. Gauges and counters
// are known only once the scenario has run.
func (s *Scenario) validateBounds() (errs Errors) {
	for i := range s.Bounds {
		if err := s.validateBound(&s.Bounds[i], fmt.Sprintf("bounds[%d]", i)); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func (s *Scenario) validateBound(b *Bound, path string) *Error {
	switch {
	case b.Name == "":
		return s.src.errorIn(path+".name", "missing: say what is claimed")
	case b.Metric.Name == "":
		return s.src.errorIn(path+".metric", "missing: want one of %s", strings.Join(metric.Names(), ", "))
	case b.Min == nil && b.Max == nil:
		return s.src.errorIn(path, "%q has neither min nor max: it claims nothing", b.Name)
	case b.Min != nil && b.Max != nil && *b.Min > *b.Max:
		return s.src.errorIn(path+".min", "%v is above max, %v: nothing can meet it", *b.Min, *b.Max)
	case b.Per < 0 || b.Per == units.Unlimited:
		return s.src.errorIn(path+".per", "%v: want a number of bytes to divide by", b.Per)
	}
	if err := s.validateSubject(b.Variant, b.Protocol, path); err != nil {
		return err
	}
	if err := s.validateMetric(b.Variant, &b.Metric, path); err != nil {
		return err
	}
	for _, ref := range []struct {
		r    *Reference
		path string
	}{{b.Minus, path + ".minus"}, {b.Over, path + ".over"}} {
		if ref.r == nil {
			continue
		}
		if err := s.validateSubject(ref.r.Variant, ref.r.Protocol, ref.path); err != nil {
			return err
		}
		variant := ref.r.Variant
		if variant == "" {
			variant = b.Variant
		}
		if err := s.validateMetric(variant, &ref.r.Metric, ref.path); err != nil {
			return err
		}
	}
	return nil
}

// validateSubject checks that a variant or a protocol is named, not both, and that
// the protocol is one of the scenario's.
func (s *Scenario) validateSubject(variant, protocol, path string) *Error {
	if protocol == "" {
		return nil
	}
	if variant != "" {
		return s.src.errorIn(path+".protocol", "given beside variant: want one of the two")
	}
	var known []string
	for _, r := range s.runs() {
		if !slices.Contains(known, r.protocol) {
			known = append(known, r.protocol)
		}
	}
	if !slices.Contains(known, protocol) {
		return s.src.errorIn(path+".protocol", "no variant runs %q: %s", protocol, hintOf(protocol, known))
	}
	return nil
}

// validateMetric checks that what a metric names is in the scenario.
func (s *Scenario) validateMetric(variant string, m *metric.Metric, path string) *Error {
	var streams []string
	known := variant == ""
	for _, r := range s.runs() {
		if variant == "" || r.label == variant {
			known = true
			for _, stream := range s.streams(r.variant) {
				streams = append(streams, stream.Name)
			}
		}
	}
	if !known {
		return s.src.errorIn(path+".variant", "no variant is called %q: %s", variant, hintOf(variant, s.Labels()))
	}
	if m.Stream != "" && !slices.Contains(streams, m.Stream) {
		return s.src.errorIn(path+".stream", "no stream of it is called %q: %s", m.Stream, hintOf(m.Stream, streams))
	}
	hosts := []struct{ path, name string }{{path + ".host", m.Host}}
	for i, h := range m.Hosts {
		hosts = append(hosts, struct{ path, name string }{fmt.Sprintf("%s.hosts[%d]", path, i), h})
	}
	for _, h := range hosts {
		if _, ok := s.fabric.Host(h.name); h.name != "" && !ok {
			last := s.fabric.Hosts[len(s.fabric.Hosts)-1]
			return s.src.errorIn(h.path, "no host is called %q: hosts are %s to %s", h.name, s.fabric.HostName(0), s.fabric.HostName(last))
		}
	}
	if n, ok := s.fabric.Node(m.Switch); m.Switch != "" && m.Switch != "leaf" && m.Switch != "spine" && (!ok || n.Kind == topo.Host) {
		return s.src.errorIn(path+".switch", "no switch is called %q: want such as leaf1, or leaf or spine for all of them", m.Switch)
	}
	if m.Port != "" && !slices.Contains([]string{"downlinks", "uplinks", "core"}, m.Port) &&
		!slices.ContainsFunc(s.fabric.Ports, func(p topo.Port) bool { return p.Name == m.Port }) {
		return s.src.errorIn(path+".port", "no port is called %q: want such as %q, or downlinks, uplinks or core", m.Port, s.fabric.Downlink(0).Name)
	}
	return nil
}
