package results

import (
	"sirdbed/capture/stats"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// DefaultBorders are the upper borders of the size groups A to C (traffic/README,
// Size groups): A < 1460 <= B < 100,000 <= C < 800,000 <= D bytes.
var DefaultBorders = []units.Bytes{1460, 100_000, 800_000}

// AllSizes is the name of the group of messages of every size.
const AllSizes = "all"

// Group returns the name of a size's group: A, B, ...
func Group(size units.Bytes, borders []units.Bytes) string {
	i := 0
	for i < len(borders) && size >= borders[i] {
		i++
	}
	return string(rune('A' + i))
}

// The definitions of slowdown (scenarios/README, Slowdown).
const (
	Paper = "paper" // payload at the bottleneck's rate, and propagation
	Exact = "exact" // with headers and every hop's store-and-forward
	Acked = "acked" // the same until the sender has its acknowledgement, of protocols whose authors measure that
)

// Slowdowns are the slowdowns by size group, "all" among them.
type Slowdowns map[string]stats.Summary

// Stream says how the messages of one stream fared.
type Stream struct {
	Name    string          `json:"stream"`
	Pattern traffic.Pattern `json:"pattern"`

	Offered    int `json:"offered"` // over the whole run
	Measured   int `json:"measured"`
	Warmup     int `json:"warmup_excluded"`
	TooLate    int `json:"too_late_excluded"`
	Unfinished int `json:"unfinished"` // in the window
	Failed     int `json:"failed"`     // in the window

	LatencyNS stats.Summary        `json:"latency_ns"`
	Slowdown  map[string]Slowdowns `json:"slowdown,omitempty"` // by definition

	// Payload of the stream's messages, replies included, that were delivered
	// in full within the window, over the window.
	DeliveredGbps float64 `json:"delivered_gbps"`
}

// Latencies is the latencies of one variant.
type Latencies struct {
	Streams  []Stream
	Latency  stats.Summary        // ns, of all streams but incast ones
	Slowdown map[string]Slowdowns // of all streams but incast ones
}

// collected are the samples of a stream or of several.
type collected struct {
	latency []float64
	groups  map[string]map[string][]float64 // by definition and size group
}

func newCollected() *collected {
	return &collected{groups: map[string]map[string][]float64{Paper: {}, Exact: {}, Acked: {}}}
}

func (c *collected) add(m *Message, borders []units.Bytes) {
	c.latency = append(c.latency, float64(m.Latency()))
	g := Group(m.Size, borders)
	add := func(definition string, latency, unloaded units.Time) {
		if unloaded > 0 {
			s := float64(latency) / float64(unloaded)
			c.groups[definition][g] = append(c.groups[definition][g], s)
			c.groups[definition][AllSizes] = append(c.groups[definition][AllSizes], s)
		}
	}
	add(Paper, m.Latency(), m.UnloadedPaper)
	add(Exact, m.Latency(), m.UnloadedExact)
	if m.Acked != units.Never {
		add(Acked, m.Acked-m.Offered, m.UnloadedAcked)
	}
}

func (c *collected) slowdowns() map[string]Slowdowns {
	out := map[string]Slowdowns{}
	for definition, groups := range c.groups {
		if len(groups) == 0 {
			continue
		}
		out[definition] = Slowdowns{}
		for name, values := range groups {
			out[definition][name] = stats.New(values).Summary()
		}
	}
	return out
}

// latencies computes the latency statistics of all streams. Incast messages
// are left out of the figures of all streams together, and of slowdown
// (scenarios/README, Incast overlay).
func (l *rawLogs) latencies(list []Message, borders []units.Bytes, window units.Time) Latencies {
	from, to := l.x.Window()
	var r Latencies
	samples := make([]*collected, len(l.x.Streams))
	delivered := make([]units.Bytes, len(l.x.Streams))
	for i, s := range l.x.Streams {
		r.Streams = append(r.Streams, Stream{Name: s.Name, Pattern: s.Pattern})
		samples[i] = newCollected()
	}
	if ofPrograms(list) {
		r.Streams = append(r.Streams, Stream{Name: traffic.ProgramsName})
		samples, delivered = append(samples, newCollected()), append(delivered, 0)
	}
	all := newCollected()
	for i := range list {
		m := &list[i]
		n := m.Tag.Stream()
		if n == traffic.Programs {
			n = len(l.x.Streams)
		}
		if n >= len(r.Streams) {
			l.problem(Integrity, "message %d %s>%s belongs to stream %d, and there are %d", m.ID,
				l.fabric.HostName(m.Src), l.fabric.HostName(m.Dst), n, len(r.Streams))
			continue
		}
		s := &r.Streams[n]
		if m.Delivered >= from && m.Delivered < to {
			delivered[n] += m.Size
		}
		if m.Class != ReplyToOne {
			s.Offered++
		}
		switch m.Class {
		case Warmup:
			s.Warmup++
		case TooLate:
			s.TooLate++
		case Unfinished:
			s.Unfinished++
		case GaveUp:
			s.Failed++
		case Measured:
			s.Measured++
			samples[n].add(m, borders)
			if s.Pattern != traffic.PatternIncast {
				all.add(m, borders)
			}
		}
	}
	for i := range r.Streams {
		s := &r.Streams[i]
		s.LatencyNS = stats.New(samples[i].latency).Summary()
		if s.Pattern != traffic.PatternIncast {
			s.Slowdown = samples[i].slowdowns()
		}
		s.DeliveredGbps = Gbps(float64(delivered[i]), window)
	}
	r.Latency = stats.New(all.latency).Summary()
	r.Slowdown = all.slowdowns()
	return r
}

// Gbps is bytes over a span as a rate in Gbps: bits per nanosecond.
func Gbps(bytes float64, span units.Time) float64 {
	if span <= 0 {
		return 0
	}
	return bytes * 8 / float64(span)
}
