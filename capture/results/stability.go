package results

import (
	"fmt"
	"slices"

	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// The rule for "unstable" (scenarios/README, Unstable). A network is unstable where
// it carries less than is offered: its backlog then grows without end. In a window
// of some ms that cannot be seen in the backlog, which one message of 15 MB can
// double, nor in goodput, which follows what happened to arrive. But it can be seen
// against a reference with the same messages: a run is unstable if it leaves more
// undelivered than links would whose rates are what is offered on average, less a
// margin.
const (
	// marginShare and marginLoops are the margin, as a share of what is offered:
	// marginShare, and what a protocol may leave undelivered by its own delays, in
	// credit loops over the time in which messages arrive. 20 loops of 7.6 us are 6 %
	// of a run of 2.5 ms.
	marginShare = 0.01
	marginLoops = 20
	// marginMost is the largest margin with which a run is called unstable, or one
	// stable that leaves more than the reference without margin.
	marginMost = 0.12
	// backlogPart is the part of the run, its last, over which backlogs are
	// averaged.
	backlogPart = 10
)

// Stability is what the rule says of a run, with the figures behind it. It applies
// only to scenarios with a Poisson stream.
type Stability struct {
	Applies  bool     `json:"applies"`
	Unstable bool     `json:"unstable"`
	Reasons  []string `json:"reasons,omitempty"`
	Known    bool     `json:"known"`                   // whether the run was stable
	Why      string   `json:"why_not_known,omitempty"` // if it is not

	Offered     float64 `json:"offered_share"`     // payload offered to the busiest link over its rate, by the streams
	Margin      float64 `json:"margin_share"`      // of what is offered
	Undelivered float64 `json:"undelivered_bytes"` // payload, mean over the last tenth until the window's end
	Reference   float64 `json:"reference_bytes"`   // the same in the reference
	// Carried is the share of their rates with which links would have left as much
	// undelivered: what can be carried of payload. Worked out for unstable runs.
	Carried float64 `json:"carried_share,omitempty"`
}

func (l *rawLogs) stability(list []Message, framing *topo.Framing, from, to units.Time) Stability {
	var s Stability
	s.Applies = to > from && slices.ContainsFunc(l.x.Streams,
		func(st traffic.Stream) bool { return st.Pattern == traffic.PatternPoisson })
	if !s.Applies {
		return s
	}
	begin, err := steadySince(l.x.Streams, from, to)
	even := false
	if err == nil {
		s.Offered, even, err = offeredShare(l.fabric, l.x.Streams)
	}
	if err != nil {
		s.Why = err.Error()
		return s
	}
	since := to - to/backlogPart
	sampled := false
	s.Undelivered, sampled = l.undelivered(list, since, to)
	r := newReference(l.fabric, list, framing, since, to)
	s.Margin = marginShare + marginLoops*float64(l.fabric.LongestLoop())/float64(to-begin)
	switch {
	case s.Offered*r.overhead() > 1:
		s.Known, s.Unstable = true, true
		s.Reasons = append(s.Reasons, fmt.Sprintf("with headers, %.0f %% of a link's rate are offered to it",
			100*s.Offered*r.overhead()))
	case !sampled:
		s.Why = "gauges were not sampled until the window's end"
	case !alike(l.fabric):
		s.Why = "links of the same kind differ in their rates, and what protocols can carry over them does too"
	case !even:
		s.Why = "links are not offered the same: what waits for one of them may be hidden by the others"
	default:
		s.Known = true
		s.judge(r)
	}
	return s
}

// alike reports whether all hosts' links have one rate, and all links to spines.
func alike(f *topo.Fabric) bool {
	var rates [2]units.BitsPerSecond // of hosts' links, of the core's
	for i := range f.Ports {
		p := &f.Ports[i]
		kind := &rates[0]
		if p.Core {
			kind = &rates[1]
		}
		if *kind != 0 && *kind != p.Rate {
			return false
		}
		*kind = p.Rate
	}
	return true
}

// steadySince is when the last of the streams begins. It fails where streams do not
// offer a known load, the same all over the window.
func steadySince(streams []traffic.Stream, from, to units.Time) (begin units.Time, err error) {
	for i := range streams {
		switch st := &streams[i]; {
		case st.Pattern == traffic.PatternOutcast || st.Pattern == traffic.PatternList:
			return 0, fmt.Errorf("stream %s (%s) has no load of its own", st.Name, st.Pattern)
		case st.Start > from || st.Stop != 0 && st.Stop < to:
			return 0, fmt.Errorf("stream %s does not last all the window", st.Name)
		}
		begin = max(begin, streams[i].Start)
	}
	return begin, nil
}

// judge compares what is undelivered with the reference.
func (s *Stability) judge(r *reference) {
	overhead := r.overhead()
	margin := s.Margin
	if margin > marginMost {
		margin = 0
	}
	s.Reference = r.backlog((1 - margin) * s.Offered * overhead)
	switch over := s.Undelivered > s.Reference; {
	case over && margin == 0:
		s.Known = false
		s.Why = fmt.Sprintf("the window is too short: it ends %.1f credit loops after traffic begins",
			marginLoops/(s.Margin-marginShare))
	case over:
		s.Unstable = true
		s.Carried = r.share(s.Undelivered) / overhead
		s.Reasons = append(s.Reasons, fmt.Sprintf(
			"at the end of the window %.3g MB are undelivered, as over links that carry payload at %.0f %% of their "+
				"rate, and %.0f %% are offered", s.Undelivered/1e6, 100*s.Carried, 100*s.Offered))
	}
}

// undelivered is the payload that was offered and has not been received, mean over
// samples of a span.
func (l *rawLogs) undelivered(list []Message, from, to units.Time) (float64, bool) {
	const samples = 20
	sum := 0.0
	for i := range units.Time(samples) {
		at := from + (to-from)*(i+1)/samples
		for h := range l.hosts {
			got, ok := l.payloadBetween(topo.HostID(h), 0, at)
			if !ok {
				return 0, false
			}
			sum -= got / samples
		}
		for j := range list {
			if list[j].Offered <= at {
				sum += float64(list[j].Size) / samples
			}
		}
	}
	return max(0, sum), true
}
