package scenarios

import (
	"math"
	"reflect"
	"slices"

	"sirdbed/capture/metric"
	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/topo/units"
)

// A Bound is something expected of the results: a metric, or its difference
// from or ratio to another one, lies between Min and Max. It is about one
// variant, about every variant by itself, or about a protocol at its worst.
type Bound struct {
	// What is claimed, in words.
	Name string `yaml:"name" json:"name"`
	// The variant it is about; every one of them unless given.
	Variant string `yaml:"variant,omitempty" json:"variant,omitempty"`
	// Instead of a variant: the greatest value that any variant of this protocol
	// has.
	Protocol string `yaml:"protocol,omitempty" json:"protocol,omitempty"`
	// Engines on which it is expected; all unless given.
	Engines []emu.EngineName `yaml:"engines,omitempty" json:"engines,omitempty"`

	metric.Metric `yaml:",inline"`

	// Subtract this metric.
	Minus *Reference `yaml:"minus,omitempty" json:"minus,omitempty"`
	// Divide by this metric.
	Over *Reference `yaml:"over,omitempty" json:"over,omitempty"`
	// Divide by this number of bytes, such as the BDP.
	Per units.Bytes `yaml:"per,omitempty" json:"per,omitempty"`
	// What the value is printed in; from the metric unless given.
	Unit string `yaml:"unit,omitempty" json:"unit,omitempty"`

	// Least value that is as expected.
	Min *float64 `yaml:"min,omitempty" json:"min,omitempty"`
	// Greatest value that is as expected.
	Max *float64 `yaml:"max,omitempty" json:"max,omitempty"`
	// Where the expectation comes from.
	Note string `yaml:"note,omitempty" json:"note,omitempty"`
}

// A Reference is a metric that a Bound's own is compared with. What it leaves
// out is as in the Bound, unless it names a metric.
type Reference struct {
	// The variant to compare with; the bound's own unless given.
	Variant string `yaml:"variant,omitempty" json:"variant,omitempty"`
	// Instead of a variant: the greatest value that any variant of this protocol
	// has.
	Protocol string `yaml:"protocol,omitempty" json:"protocol,omitempty"`

	metric.Metric `yaml:",inline"`
}

// Evaluate checks the bounds that apply to an engine and to variants that were run.
// A bound whose metric has no value is not met, and its Error has the reason.
func Evaluate(bounds []Bound, engine emu.EngineName, variants []*results.Variant) []results.Bound {
	list := []results.Bound{}
	for i := range bounds {
		b := &bounds[i]
		if len(b.Engines) > 0 && !slices.Contains(b.Engines, engine) {
			continue
		}
		if b.Protocol != "" {
			if checked, ok := b.check(nil, variants); ok {
				list = append(list, checked)
			}
			continue
		}
		for _, v := range variants {
			if b.Variant != "" && v.Name != b.Variant {
				continue
			}
			checked, ok := b.check(v, variants)
			if !ok {
				continue
			}
			if b.Variant == "" && len(variants) > 1 {
				checked.Name += " (" + v.Name + ")"
			}
			list = append(list, checked)
		}
	}
	return list
}

// check evaluates the bound on v, which is nil for a bound about a protocol. It is
// not ok if the bound is about, or compares with, what was not run.
func (b *Bound) check(v *results.Variant, variants []*results.Variant) (c results.Bound, ok bool) {
	c = results.Bound{Name: b.Name, Min: b.Min, Max: b.Max, Unit: b.unit()}
	own := []*results.Variant{v}
	if b.Protocol != "" {
		own = subjects(variants, "", b.Protocol)
	}
	if len(own) == 0 {
		return c, false
	}
	value, err := greatest(b.Metric, own)
	for _, ref := range []*Reference{b.Minus, b.Over} {
		if ref == nil {
			continue
		}
		others := own
		if ref.Variant != "" || ref.Protocol != "" {
			others = subjects(variants, ref.Variant, ref.Protocol)
		}
		if len(others) == 0 {
			return c, false
		}
		if err != nil {
			break
		}
		var x float64
		if x, err = greatest(ref.against(b.Metric), others); err != nil {
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

// subjects are the variant of a name, or all variants of a protocol.
func subjects(variants []*results.Variant, variant, protocol string) (list []*results.Variant) {
	for _, v := range variants {
		if v.Name == variant || protocol != "" && v.Protocol == protocol {
			list = append(list, v)
		}
	}
	return list
}

// greatest is the greatest value of a metric among variants.
func greatest(m metric.Metric, variants []*results.Variant) (float64, error) {
	most := math.Inf(-1)
	for _, v := range variants {
		x, err := m.Eval(v)
		if err != nil {
			return 0, err
		}
		most = max(most, x)
	}
	return most, nil
}

// against fills in what the reference leaves out.
func (r *Reference) against(own metric.Metric) metric.Metric {
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

// unit is the unit of the value.
func (b *Bound) unit() string {
	switch {
	case b.Unit != "":
		return b.Unit
	case b.Per > 0, b.Over != nil:
		return "x"
	}
	return b.Metric.Unit()
}
