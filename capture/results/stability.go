package results

import (
	"fmt"
	"slices"
	"sort"

	"sirdbed/capture/stats"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// The rule for "unstable" (scenarios/README, Unstable), applied to the second half
// of the measured window.
const (
	trendBlocks = 20
	// trendT is the significance asked of a slope, in standard errors. A flat
	// series of autocorrelated blocks exceeds it about once in a hundred runs.
	trendT = 4.0
	// trendGrowth is the growth over the half window that is asked for as well, as
	// a share of the mean: an overload that began with the run makes a backlog grow
	// by a fifth of its mean or more in the second half, even if the warm-up is as
	// long as the window. A weaker trend is a drift.
	trendGrowth = 0.15
	// shortfall is how far goodput has to stay below what arrived.
	shortfall      = 0.05
	goodputBlocks  = 4
	minFrames      = 10 // full frames: a queue that grows by less does not grow
	minMessages    = 2  // a backlog that grows by fewer does not grow
	backlogSamples = 400
)

// Stability is what the rule says of a run, with the figures behind it. It applies
// only to scenarios with a Poisson stream.
type Stability struct {
	Applies  bool     `json:"applies"`
	Unstable bool     `json:"unstable"`
	Reasons  []string `json:"reasons,omitempty"`

	From    int64                  `json:"from_ns"` // the half window it looks at
	To      int64                  `json:"to_ns"`
	Backlog stats.Trend            `json:"backlog_messages"` // unfinished messages
	Queues  map[string]stats.Trend `json:"queue_bytes"`      // by switch
	Arrived []float64              `json:"arrived_gbps"`     // by quarter of the half window, of all hosts
	Goodput []float64              `json:"goodput_gbps"`     // the same
	Known   bool                   `json:"goodput_known"`    // gauges were sampled often enough
}

func (l *rawLogs) stability(list []Message, from, to units.Time) Stability {
	half := (from + to) / 2
	s := Stability{From: int64(half), To: int64(to), Queues: map[string]stats.Trend{}}
	s.Applies = to > from && slices.ContainsFunc(l.x.Streams,
		func(st traffic.Stream) bool { return st.Pattern == traffic.PatternPoisson })
	if !s.Applies {
		return s
	}
	s.Backlog = stats.FitTrend(stats.BlockMeans(backlog(list, half, to), trendBlocks))
	s.grows("the backlog of unfinished messages", s.Backlog, minMessages, "messages")
	for i := range l.fabric.Nodes {
		n := &l.fabric.Nodes[i]
		if n.Kind == topo.Host {
			continue
		}
		_, values := l.queues.Series(l.queues.SumOver(n.Ports), half, to)
		if len(values) < trendBlocks {
			continue
		}
		s.Queues[n.Name] = stats.FitTrend(stats.BlockMeans(values, trendBlocks))
		s.grows("the queue of "+n.Name, s.Queues[n.Name], minFrames*float64(l.fabric.FullFrame()), "bytes")
	}
	l.shortOf(&s, list, half, to)
	s.Unstable = len(s.Reasons) > 0
	return s
}

func (s *Stability) grows(what string, t stats.Trend, least float64, unit string) {
	if t.T < trendT || t.Growth < trendGrowth*t.Mean || t.Growth < least {
		return
	}
	significance := fmt.Sprintf("%.1f", t.T)
	if t.T > 1000 {
		significance = "over 1000"
	}
	s.Reasons = append(s.Reasons, fmt.Sprintf(
		"%s grows by %.0f %s over the second half of the window, at a mean of %.0f (%s standard errors)",
		what, t.Growth, unit, t.Mean, significance))
}

// backlog counts the messages under way at evenly spaced times.
func backlog(list []Message, from, to units.Time) []float64 {
	var begins, ends []units.Time
	for i := range list {
		m := &list[i]
		begins = append(begins, m.Offered)
		if end := min(m.Delivered, m.Failed); end != units.Never {
			ends = append(ends, end)
		}
	}
	slices.Sort(begins)
	slices.Sort(ends)
	values := make([]float64, backlogSamples)
	for i := range values {
		at := from + (to-from)*units.Time(2*i+1)/(2*backlogSamples)
		begun := sort.Search(len(begins), func(i int) bool { return begins[i] > at })
		ended := sort.Search(len(ends), func(i int) bool { return ends[i] > at })
		values[i] = float64(begun - ended)
	}
	return values
}

// shortOf compares goodput with what arrived, quarter by quarter: a lasting
// shortfall is there in each of them. Messages that arrived too late to finish do not
// count.
func (l *rawLogs) shortOf(s *Stability, list []Message, half, to units.Time) {
	span := (to - half) / goodputBlocks
	if span <= 0 {
		return
	}
	s.Known = true
	for b := range units.Time(goodputBlocks) {
		from := half + b*span
		got, came := 0.0, 0.0
		for h := range l.hosts {
			n, ok := l.payloadBetween(topo.HostID(h), from, from+span)
			if !ok {
				s.Known = false
			}
			got += n
		}
		for i := range list {
			m := &list[i]
			if m.Offered >= from && m.Offered < from+span && m.Offered+max(m.UnloadedExact, m.UnloadedPaper) <= to {
				came += float64(m.Size)
			}
		}
		s.Arrived = append(s.Arrived, Gbps(came, span))
		s.Goodput = append(s.Goodput, Gbps(got, span))
	}
	if !s.Known {
		s.Goodput = nil
		return
	}
	short, arrived, goodput := true, 0.0, 0.0
	for b := range s.Arrived {
		short = short && s.Goodput[b] < (1-shortfall)*s.Arrived[b]
		arrived += s.Arrived[b] / goodputBlocks
		goodput += s.Goodput[b] / goodputBlocks
	}
	if short {
		s.Reasons = append(s.Reasons, fmt.Sprintf(
			"goodput stays more than %.0f %% below what arrived: %.2f of %.2f Gbps",
			100*shortfall, goodput, arrived))
	}
}
