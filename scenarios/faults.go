package scenarios

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// Faults are what goes wrong: a share of the frames all the time, or what happens to links
// and hosts in the course of a run. In a file the one has keys and values, the other is a
// list.
type Faults struct {
	fault.Config
	Timeline fault.Timeline
}

// MarshalJSON implements json.Marshaler.
func (f Faults) MarshalJSON() ([]byte, error) {
	if len(f.Timeline) > 0 {
		return json.Marshal(f.Timeline)
	}
	return json.Marshal(f.Config)
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Faults) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return json.Unmarshal(text, &f.Timeline)
	}
	return json.Unmarshal(text, &f.Config)
}

// faults decodes either form.
func (d *decoder) faults(n ast.Node, v reflect.Value, what string) {
	if _, list := n.(*ast.SequenceNode); list {
		d.items(n, v.FieldByName("Timeline"), what, limit.Timeline, "faults")
		return
	}
	if _, keys := n.(*ast.MappingNode); !keys {
		d.fail(n, "%s: want keys and values, such as {drop: 0.01}, or a list of what happens when, such as "+
			"[{at: 1ms, for: 500us, link: h1-1, do: blackhole}]", what)
		return
	}
	d.fields(n, v.FieldByName("Config"), what, limit.Faults)
}

// faultsOf returns the faults of a variant, and where they are in the file.
func (s *Scenario) faultsOf(v Variant) (f Faults, path string) {
	if v.Faults == nil {
		return s.Faults, "faults"
	}
	i := slices.IndexFunc(s.Variants, func(o Variant) bool { return o.Name == v.Name })
	return *v.Faults, fmt.Sprintf("variants[%d].faults", i)
}

// validateFaults checks the faults of all variants.
func (s *Scenario) validateFaults() *Error {
	for _, r := range s.runs() {
		f, path := s.faultsOf(r.variant)
		for i := range f.Timeline {
			if at := fmt.Sprintf("%s[%d].at", path, i); !s.has(at) {
				return s.src.errorIn(at, "missing: say when it begins, such as 1ms")
			}
		}
		x := s.experiment(r, Options{})
		if err := f.validate(s.fabric, x.End()); err != nil {
			return s.src.errorIn(path+err.Field, "%s", err.Reason)
		}
	}
	return nil
}

// validate reports the first fault that cannot be, by its path behind that of the faults.
func (f *Faults) validate(fabric *topo.Fabric, end units.Time) *topo.SpecError {
	if e, ok := errors.AsType[*topo.SpecError](f.Config.Validate()); ok {
		return &topo.SpecError{Field: "." + e.Field, Reason: e.Reason}
	}
	e, _ := errors.AsType[*topo.SpecError](f.Timeline.Validate(fabric, end))
	return e
}
