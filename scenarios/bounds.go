package scenarios

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"sirdbed/capture"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A Bound is something expected of the results: a metric, or its difference
// from or ratio to another one, lies between Min and Max.
type Bound struct {
	Name    string   `yaml:"name" json:"name" jsonschema_description:"What is claimed, in words."`
	Variant string   `yaml:"variant,omitempty" json:"variant,omitempty" jsonschema_description:"The variant it is about; every one of them unless given."`
	Engines []Engine `yaml:"engines,omitempty" json:"engines,omitempty" jsonschema:"enum=real,enum=virtual,enum=model" jsonschema_description:"Engines on which it is expected; all unless given."`

	capture.Metric `yaml:",inline"`

	Minus *Reference  `yaml:"minus,omitempty" json:"minus,omitempty" jsonschema_description:"Subtract this metric."`
	Over  *Reference  `yaml:"over,omitempty" json:"over,omitempty" jsonschema_description:"Divide by this metric."`
	Per   units.Bytes `yaml:"per,omitempty" json:"per,omitempty" jsonschema_description:"Divide by this number of bytes, such as the BDP."`
	Unit  string      `yaml:"unit,omitempty" json:"unit,omitempty" jsonschema_description:"What the value is printed in; from the metric unless given."`

	Min  *float64 `yaml:"min,omitempty" json:"min,omitempty" jsonschema_description:"Least value that is as expected."`
	Max  *float64 `yaml:"max,omitempty" json:"max,omitempty" jsonschema_description:"Greatest value that is as expected."`
	Note string   `yaml:"note,omitempty" json:"note,omitempty" jsonschema_description:"Where the expectation comes from."`
}

// A Reference is a metric that a Bound's own is compared with. What it leaves
// out is as in the Bound, unless it names a metric.
type Reference struct {
	Variant string `yaml:"variant,omitempty" json:"variant,omitempty" jsonschema_description:"The variant to compare with; the bound's own unless given."`

	capture.Metric `yaml:",inline"`
}

// Evaluate checks the bounds that are about an engine and about variants that
// were run. Where a figure cannot be had the bound is not met and says why.
func Evaluate(bounds []Bound, engine Engine, results []*capture.Variant) []capture.Bound {
	list := []capture.Bound{}
	for i := range bounds {
		b := &bounds[i]
		if len(b.Engines) > 0 && !slices.Contains(b.Engines, engine) {
			continue
		}
		for _, v := range results {
			if b.Variant != "" && v.Name != b.Variant {
				continue
			}
			checked, ok := b.check(v, results)
			if !ok {
				continue
			}
			if b.Variant == "" && len(results) > 1 {
				checked.Name += " (" + v.Name + ")"
			}
			list = append(list, checked)
		}
	}
	return list
}

// check evaluates the bound on v. It is not ok when it compares v with a variant
// that was not run.
func (b *Bound) check(v *capture.Variant, results []*capture.Variant) (c capture.Bound, ok bool) {
	c = capture.Bound{Name: b.Name, Min: b.Min, Max: b.Max, Unit: b.unit()}
	value, err := b.Metric.Eval(v)
	for _, ref := range []*Reference{b.Minus, b.Over} {
		if ref == nil {
			continue
		}
		other, ran := v, true
		if ref.Variant != "" {
			other, ran = find(results, ref.Variant)
		}
		if !ran {
			return c, false
		}
		if err != nil {
			break
		}
		var x float64
		if x, err = ref.against(b.Metric).Eval(other); err != nil {
			break
		}
		if ref == b.Minus {
			value -= x
		} else {
			value /= x
		}
	}
	if b.Per > 0 {
		value /= float64(b.Per)
	}
	switch {
	case err != nil:
		c.Error = err.Error()
	case math.IsNaN(value) || math.IsInf(value, 0):
		c.Error = "there is nothing to divide by"
	default:
		c.Value = value
		c.OK = (b.Min == nil || value >= *b.Min) && (b.Max == nil || value <= *b.Max)
	}
	return c, true
}

func find(results []*capture.Variant, name string) (*capture.Variant, bool) {
	for _, v := range results {
		if v.Name == name {
			return v, true
		}
	}
	return nil, false
}

// against fills in what the reference leaves out.
func (r *Reference) against(own capture.Metric) capture.Metric {
	if r.Metric.Name != "" {
		return r.Metric
	}
	m := own
	from, to := reflect.ValueOf(r.Metric), reflect.ValueOf(&m).Elem()
	for i := range from.NumField() {
		if f := from.Field(i); !f.IsZero() {
			to.Field(i).Set(f)
		}
	}
	return m
}

// unit is what the value is in.
func (b *Bound) unit() string {
	switch {
	case b.Unit != "":
		return b.Unit
	case b.Per > 0, b.Over != nil, b.Metric.Name == "slowdown":
		return "x"
	case strings.HasSuffix(b.Metric.Name, "_gbps"):
		return "Gbps"
	case b.Metric.Name == "latency_us" && b.Stat != "count":
		return "us"
	case strings.HasSuffix(b.Metric.Name, "_bytes"):
		return "B"
	}
	return ""
}

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
		return s.src.errorIn(path+".metric", "missing: want one of %s", strings.Join(capture.Metrics(), ", "))
	case b.Min == nil && b.Max == nil:
		return s.src.errorIn(path, "%q has neither min nor max: it claims nothing", b.Name)
	case b.Min != nil && b.Max != nil && *b.Min > *b.Max:
		return s.src.errorIn(path+".min", "%v is above max, %v: nothing can meet it", *b.Min, *b.Max)
	case b.Per < 0 || b.Per == units.Unlimited:
		return s.src.errorIn(path+".per", "%v: want a number of bytes to divide by", b.Per)
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

// validateMetric checks that what a metric names is in the scenario.
func (s *Scenario) validateMetric(variant string, m *capture.Metric, path string) *Error {
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
