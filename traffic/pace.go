package traffic

import (
	"cmp"
	"math"
	"slices"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// payloadRate returns what host h offers of a poisson or fixed stream, in bit/s.
func (s *Stream) payloadRate(f *topo.Fabric, h topo.HostID) float64 {
	switch {
	case s.Rate != 0:
		return float64(s.Rate)
	case s.Load != 0:
		return s.Load * float64(f.Uplink(h).Rate)
	default:
		return float64(s.Size) * 8 / s.Interval.Seconds()
	}
}

// gap returns the mean time in ns between two messages of host h.
func (s *Stream) gap(f *topo.Fabric, h topo.HostID) float64 {
	if s.Interval != 0 {
		return float64(s.Interval)
	}
	return s.Distribution().Mean(s.sampling()) * 8e9 / s.payloadRate(f, h)
}

// pace names the field that sets how often messages come.
func (s *Stream) pace() string {
	paces := []string{"rate", "load", "interval"}
	return slices.DeleteFunc(s.given(), func(name string) bool { return !slices.Contains(paces, name) })[0]
}

// withinLinks reports senders that offer more than their link's rate.
func (s *Stream) withinLinks(f *topo.Fabric) error {
	from, _ := s.ends(f)
	for _, h := range from {
		rate, link := s.payloadRate(f, h), f.Uplink(h).Rate
		if rate > float64(link) && !s.Overload {
			return fieldError(s.pace(),
				"%s offers %.4g Gbps of payload to its link of %v: set overload if that is meant",
				f.HostName(h), rate/1e9, link)
		}
	}
	return nil
}

// ValidateLoad reports the first stream whose load is more than links carry, as a
// *FieldError. The streams are valid with other loads.
func ValidateLoad(f *topo.Fabric, streams []Stream) error {
	for i := range streams {
		s := &streams[i]
		if s.Load <= 1 || s.Overload {
			continue // all links carry all of it
		}
		if err := s.Validate(f); err != nil {
			return within(i, err)
		}
	}
	return nil
}

// ValidateCount reports a valid stream from which a host would send more messages in
// [0, until) than a Tag can count, as a *FieldError. Of outcasts that is not known.
func (s *Stream) ValidateCount(f *topo.Fabric, until units.Time) error {
	if s.Stop != 0 {
		until = min(until, s.Stop)
	}
	switch s.Pattern {
	case PatternPoisson, PatternFixed:
		from, _ := s.ends(f)
		busiest := from[0]
		if len(f.Spec.Links) > 0 { // else all uplinks are alike
			busiest = slices.MaxFunc(from, func(a, b topo.HostID) int {
				return cmp.Compare(f.Uplink(a).Rate, f.Uplink(b).Rate)
			})
		}
		return s.countable(s.gap(f, busiest), until)
	case PatternIncast:
		return s.countable(s.period(f), until)
	}
	return nil
}

// countable reports a stream of more messages, every gap ns from start to end,
// than a Tag can count. An end of units.Never is left to MakeTag.
func (s *Stream) countable(gap float64, end units.Time) error {
	if count := float64(end-s.Start) / gap; end != units.Never && count > MaxIndex+1 {
		return fieldError(s.pace(),
			"about %.0f messages from one host by %v: at most %d can be told apart; split the stream or end it sooner",
			count, end, MaxIndex+1)
	}
	return nil
}

// others returns the receivers without self.
func others(to []topo.HostID, self topo.HostID) []topo.HostID {
	return slices.DeleteFunc(slices.Clone(to), func(h topo.HostID) bool { return h == self })
}

// nanoseconds rounds a float time, which may be beyond the range of Time.
func nanoseconds(ns float64) units.Time {
	if ns >= float64(units.Never) {
		return units.Never
	}
	return units.Time(math.Round(ns))
}
