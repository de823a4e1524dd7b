package scenarios

import (
	"errors"
	"fmt"
	"slices"

	"sirdbed/traffic"
)

func (s *Scenario) validateTraffic(dir string) *Error {
	if len(s.Traffic) == 0 && len(s.Apps) > 0 {
		return nil
	}
	if len(s.Traffic) == 0 {
		return s.src.errorIn("traffic", "missing: without traffic or apps there is nothing to measure")
	}
	listed := 0
	for i := range s.Traffic {
		if err := s.Traffic[i].ReadFile(dir); err != nil {
			return s.fieldError(fmt.Sprintf("traffic[%d].", i), err)
		}
		if listed += len(s.Traffic[i].Messages); listed > maxListed {
			return s.src.errorIn(fmt.Sprintf("traffic[%d].file", i),
				"more than %d messages in all lists: traffic of more is for a pattern", maxListed)
		}
	}
	if err := traffic.Validate(s.fabric, s.Traffic); err != nil {
		return s.fieldError("", err)
	}
	return nil
}

// maxListed is how many messages all lists of a scenario may have. All hosts have
// them in memory.
const maxListed = 500_000

func (s *Scenario) fieldError(prefix string, err error) *Error {
	if e, ok := errors.AsType[*traffic.FieldError](err); ok {
		return s.src.errorIn(prefix+e.Field, "%s", e.Reason)
	}
	return s.src.errorIn("traffic", "%v", err)
}

// validateLoad checks that a variant's own load changes a stream, to one that it
// can have.
func (s *Scenario) validateLoad(v Variant, path string) *Error {
	if v.Load == 0 {
		return nil
	}
	streams := s.streams(v)
	if !slices.ContainsFunc(streams, func(t traffic.Stream) bool { return t.Load != 0 }) {
		return s.src.errorIn(path+"load", "none of the variant's streams states a load that this one could replace")
	}
	if err := traffic.ValidateLoad(s.fabric, streams); err != nil {
		reason := err.Error()
		if e, ok := errors.AsType[*traffic.FieldError](err); ok {
			reason = e.Reason
		}
		return s.src.errorIn(path+"load", "%s", reason)
	}
	return nil
}

// validateCounts finds streams of more messages than can be told apart, at the load
// and in the time of each variant.
func (s *Scenario) validateCounts() *Error {
	if s.fabric == nil || len(s.Traffic) == 0 || traffic.Validate(s.fabric, s.Traffic) != nil {
		return nil // told already
	}
	for _, r := range s.runs() {
		x := s.experiment(r, Options{})
		_, until := x.Window()
		for i := range x.Streams {
			stream := &x.Streams[i]
			e, ok := errors.AsType[*traffic.FieldError](stream.ValidateCount(s.fabric, until))
			if !ok {
				continue
			}
			at := slices.IndexFunc(s.Traffic, func(t traffic.Stream) bool { return t.Name == stream.Name })
			if e.Field == "load" && s.Traffic[at].Load != stream.Load {
				v := slices.IndexFunc(s.Variants, func(v Variant) bool { return v.Name == r.variant.Name })
				return s.src.errorIn(fmt.Sprintf("variants[%d].load", v), "%s", e.Reason)
			}
			return s.src.errorIn(fmt.Sprintf("traffic[%d].%s", at, e.Field), "%s", e.Reason)
		}
	}
	return nil
}
