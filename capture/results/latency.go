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

// A sampler takes samples and sums them up: all of them, or their histogram.
type sampler interface {
	add(value float64)
	Summary() stats.Summary
}

// exactly keeps every sample.
type exactly struct{ values []float64 }

func (e *exactly) add(value float64)      { e.values = append(e.values, value) }
func (e *exactly) Summary() stats.Summary { return stats.New(e.values).Summary() }

// collected are the samples of a stream or of several.
type collected struct {
	fresh   func() sampler
	latency sampler
	groups  map[string]map[string]sampler // by definition and size group
}

func newCollected(fresh func() sampler) *collected {
	return &collected{fresh, fresh(), map[string]map[string]sampler{Paper: {}, Exact: {}, Acked: {}}}
}

func (c *collected) add(m *Message, borders []units.Bytes) {
	c.latency.add(float64(m.Latency()))
	g := Group(m.Size, borders)
	add := func(definition string, latency, unloaded units.Time) {
		if unloaded > 0 {
			s := float64(latency) / float64(unloaded)
			c.group(definition, g).add(s)
			c.group(definition, AllSizes).add(s)
		}
	}
	add(Paper, m.Latency(), m.UnloadedPaper)
	add(Exact, m.Latency(), m.UnloadedExact)
	if m.Acked != units.Never {
		add(Acked, m.Acked-m.Offered, m.UnloadedAcked)
	}
}

func (c *collected) group(definition, name string) sampler {
	groups := c.groups[definition]
	if groups[name] == nil {
		groups[name] = c.fresh()
	}
	return groups[name]
}

func (c *collected) slowdowns() map[string]Slowdowns {
	out := map[string]Slowdowns{}
	for definition, groups := range c.groups {
		if len(groups) == 0 {
			continue
		}
		out[definition] = Slowdowns{}
		for name, values := range groups {
			out[definition][name] = values.Summary()
		}
	}
	return out
}

// A tally counts messages by their streams. Incast messages are left out of the figures
// of all streams together, and of slowdown (scenarios/README, Incast overlay).
type tally struct {
	l         *rawLogs
	borders   []units.Bytes
	fresh     func() sampler
	streams   []Stream
	samples   []*collected  // by stream
	delivered []units.Bytes // by stream
	all       *collected
}

func (l *rawLogs) newTally(borders []units.Bytes, fresh func() sampler) *tally {
	t := &tally{l: l, borders: borders, fresh: fresh, all: newCollected(fresh)}
	for _, s := range l.x.Streams {
		t.stream(Stream{Name: s.Name, Pattern: s.Pattern})
	}
	return t
}

func (t *tally) stream(s Stream) {
	t.streams = append(t.streams, s)
	t.samples, t.delivered = append(t.samples, newCollected(t.fresh)), append(t.delivered, 0)
}

// add counts a message, of which all is known.
func (t *tally) add(m *Message) {
	n := m.Tag.Stream()
	if n == traffic.Programs {
		if n = len(t.l.x.Streams); n == len(t.streams) {
			t.stream(Stream{Name: traffic.ProgramsName})
		}
	}
	if n >= len(t.streams) {
		t.l.problem(Integrity, "message %d %s>%s belongs to stream %d, and there are %d", m.ID,
			t.l.fabric.HostName(m.Src), t.l.fabric.HostName(m.Dst), n, len(t.streams))
		return
	}
	s := &t.streams[n]
	if from, to := t.l.x.Window(); m.Delivered >= from && m.Delivered < to {
		t.delivered[n] += m.Size
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
		t.samples[n].add(m, t.borders)
		if s.Pattern != traffic.PatternIncast {
			t.all.add(m, t.borders)
		}
	}
}

// latencies are the statistics of what was added, over a window's length.
func (t *tally) latencies(window units.Time) Latencies {
	r := Latencies{Streams: t.streams, Latency: t.all.latency.Summary(), Slowdown: t.all.slowdowns()}
	for i := range r.Streams {
		s := &r.Streams[i]
		s.LatencyNS = t.samples[i].latency.Summary()
		if s.Pattern != traffic.PatternIncast {
			s.Slowdown = t.samples[i].slowdowns()
		}
		s.DeliveredGbps = Gbps(float64(t.delivered[i]), window)
	}
	return r
}

// latencies computes the latency statistics of all streams.
func (l *rawLogs) latencies(list []Message, borders []units.Bytes, window units.Time) Latencies {
	t := l.newTally(borders, func() sampler { return &exactly{} })
	for i := range list {
		t.add(&list[i])
	}
	return t.latencies(window)
}

// Gbps is bytes over a span as a rate in Gbps: bits per nanosecond.
func Gbps(bytes float64, span units.Time) float64 {
	if span <= 0 {
		return 0
	}
	return bytes * 8 / float64(span)
}
