package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"sirdbed/baselines/all"
	"sirdbed/emu"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Options change how a scenario is run; a Change changes what is in it.
type Options struct {
	Seed     uint64         // 0: the scenario's
	Dilation units.Dilation // 0: the scenario's
	Variants []string       // labels or variant names; none: all
}

// A run is one variant with one protocol.
type run struct {
	label    string // names its results, and the run in bounds
	variant  Variant
	protocol string
}

// runs lists every variant with each of its protocols.
func (s *Scenario) runs() (list []run) {
	variants := s.Variants
	if len(variants) == 0 {
		variants = []Variant{{}}
	}
	for _, v := range variants {
		protocols := s.Protocols
		if v.Protocol != "" {
			protocols = []string{v.Protocol}
		}
		for _, p := range protocols {
			label := v.Name
			if label == "" {
				label = p
			} else if len(protocols) > 1 {
				label += "-" + p
			}
			list = append(list, run{label, v, p})
		}
	}
	return list
}

// Labels names the scenario's runs: its variants, with the protocol where there
// are several.
func (s *Scenario) Labels() (labels []string) {
	for _, r := range s.runs() {
		labels = append(labels, r.label)
	}
	return labels
}

// VariantOf returns the name of the variant that a run is of, by the run's label: what is before
// the protocol where a variant has several. Without variants, and for what is no run's label, it is
// the label.
func (s *Scenario) VariantOf(label string) string {
	for _, r := range s.runs() {
		if r.label == label && r.variant.Name != "" {
			return r.variant.Name
		}
	}
	return label
}

// Experiments returns what an engine runs, one for each variant and protocol
// in the order of the file. It fails on options that name no variant.
func (s *Scenario) Experiments(o Options) ([]emu.Experiment, error) {
	if o.Seed > limit.MaxSeed {
		return nil, fmt.Errorf("--%s", limit.Scenario.Of("seed").Reason(reflect.ValueOf(o.Seed)))
	}
	runs := s.runs()
	for _, name := range o.Variants {
		known := slices.ContainsFunc(runs, func(r run) bool { return r.label == name || r.variant.Name == name })
		if !known {
			return nil, fmt.Errorf("--variant %s: %s has no such variant: %s", name, s.Name, hintOf(name, s.Labels()))
		}
	}
	var list []emu.Experiment
	for _, r := range runs {
		if len(o.Variants) > 0 && !slices.Contains(o.Variants, r.label) &&
			!slices.Contains(o.Variants, r.variant.Name) {
			continue
		}
		x := s.experiment(r, o)
		if err := lasts(x); err != nil {
			return nil, fmt.Errorf("--dilation: %w", err)
		}
		list = append(list, x)
	}
	return list, nil
}

func (s *Scenario) experiment(r run, o Options) emu.Experiment {
	x := emu.Experiment{
		Scenario: s.Name, Variant: r.label,
		Topology: s.fabric.Spec, Protocol: r.protocol,
		Params:  merge(s.Params[r.protocol], r.variant.Params[r.protocol]),
		Streams: s.streams(r.variant), Seed: s.Seed,
		Warmup: s.Warmup, Duration: s.Duration, Drain: s.Drain,
		QueueEvery: s.Sample.Queues, GaugeEvery: s.Sample.Gauges, QueueLimit: s.QueueLimit,
		Apps: s.Apps, Hosts: s.Hosts, Capture: s.Capture, SnapLen: int(s.SnapLen),
		Dilation: units.Dilation(s.Dilation), Guests: int(s.Guests),
	}
	faults, _ := s.faultsOf(r.variant)
	x.Faults, x.Timeline = faults.Config, faults.Timeline
	if r.variant.Warmup != nil {
		x.Warmup = *r.variant.Warmup
	}
	if r.variant.Duration != nil {
		x.Duration = *r.variant.Duration
	}
	if r.variant.Drain != nil {
		x.Drain = *r.variant.Drain
	}
	x.Params = merge(x.Params, s.fitted(x))
	if len(x.Streams) == 0 {
		x.GaugeEvery = 0 // protocols have nothing to show
	}
	if o.Seed != 0 {
		x.Seed = o.Seed
	}
	if o.Dilation != 0 {
		x.Dilation = o.Dilation
	}
	if len(x.Hosts) > 0 && x.Dilation == 0 {
		x.Dilation = 1 // hardware's clock cannot be stretched
	}
	return x
}

// fitted returns the parameters that follow from an experiment's traffic.
func (s *Scenario) fitted(x emu.Experiment) json.RawMessage {
	p, err := all.Find(x.Protocol)
	if err != nil || p.Fit == nil || len(x.Streams) == 0 {
		return nil
	}
	params, err := all.DecodeParams(p, s.fabric, x.Params)
	if err != nil {
		return nil // which loading the file has reported
	}
	return p.Fit(s.fabric, params, x.Streams)
}

// streams returns the streams of a variant, in the scenario's order.
func (s *Scenario) streams(v Variant) (list []traffic.Stream) {
	for _, stream := range s.Traffic {
		if len(v.Traffic) > 0 && !slices.Contains(v.Traffic, stream.Name) {
			continue
		}
		if v.Load != 0 && stream.Load != 0 {
			stream.Load = v.Load
		}
		list = append(list, stream)
	}
	return list
}

// merge lays a variant's parameters over the scenario's.
func merge(under, over json.RawMessage) json.RawMessage {
	if len(under) == 0 {
		return over
	}
	if len(over) == 0 {
		return under
	}
	var all, changes map[string]json.RawMessage
	if err := json.Unmarshal(under, &all); err != nil {
		panic(err) // Load wrote both
	}
	if err := json.Unmarshal(over, &changes); err != nil {
		panic(err)
	}
	maps.Copy(all, changes)
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return text
}
