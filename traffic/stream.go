// Package traffic defines who sends what to whom, and when: message-size
// distributions, arrival processes and patterns, and from them the stream of
// messages of each host. It knows nothing of Linux or of protocols.
//
// A scenario states a list of Streams. At every host a Source merges them into
// one sequence of Arrivals at nominal times. What a host draws depends on the
// seed, the stream's name, the stream itself, the fabric and the host, and on
// nothing else: every engine and every host process sees the same messages,
// and adding a stream leaves the others as they were. Where a pattern involves
// all hosts (incast), each of them draws the same common sequence and keeps
// its part.
//
// Sizes are bytes of application payload. Rates and loads count payload too,
// without any protocol's headers, as in the paper (section 6.2). README.md has
// the facts behind workloads and patterns.
package traffic

import (
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// ProgramsName is what the messages of programs are called among streams; no stream may be.
const ProgramsName = "programs"

// MaxStreams is how many streams a Tag can distinguish: those of a scenario, and Programs.
const MaxStreams = limit.MaxStreams + 1

// A Stream is one named stream of messages as a scenario states it. Pattern
// decides which of the other fields it may have; the zero value of a field
// means that it is not given.
//
// A Stream that is in use is read only, and may be shared by many Sources.
type Stream struct {
	// Name of the stream, unique in the scenario. Its random draws follow from it.
	Name string `yaml:"name" json:"name"`
	// poisson: open loop, exponential gaps. fixed: open loop, equal gaps. incast: many senders to one receiver at
	// once. outcast: closed loop, a sender to several receivers. list: messages from a CSV file.
	Pattern Pattern `yaml:"pattern" json:"pattern"`

	// Sending hosts by name, or [all], the default.
	From []string `yaml:"from,omitempty" json:"from,omitempty"`
	// Receiving hosts by name, or [all], the default. A host never sends to itself: with a single receiver, all
	// senders means all others.
	To []string `yaml:"to,omitempty" json:"to,omitempty"`
	// When the stream begins; a list's times count from it.
	Start units.Time `yaml:"start,omitempty" json:"start,omitempty"`
	// No message arrives from here on; 0 for the end of the run.
	Stop units.Time `yaml:"stop,omitempty" json:"stop,omitempty"`
	// Size of the reply to each message; 0 for one-way messages.
	Reply units.Bytes `yaml:"reply,omitempty" json:"reply,omitempty"`
	// What the latency and slowdown of a message with a reply span. round-trip, the default: to the reply's arrival.
	// request: to the message's own delivery, as in the paper's simulations, where the reply only ends the exchange.
	Latency Latency `yaml:"latency,omitempty" json:"latency,omitempty" jsonschema:"enum=round-trip,enum=request"`

	// Payload rate of each sender (poisson, fixed).
	Rate units.BitsPerSecond `yaml:"rate,omitempty" json:"rate,omitempty"`
	// Payload rate as a fraction of the link rate: of each sender (poisson, fixed), or of all hosts of the fabric on
	// average (incast).
	Load float64 `yaml:"load,omitempty" json:"load,omitempty"`
	// Time from one message of a sender (fixed) or one burst (incast) to the next.
	Interval units.Time `yaml:"interval,omitempty" json:"interval,omitempty"`
	// Allow senders to offer more payload than their own link carries.
	Overload bool `yaml:"overload,omitempty" json:"overload,omitempty"`

	// Size of every message.
	Size units.Bytes `yaml:"size,omitempty" json:"size,omitempty"`
	// Draw sizes from a distribution (poisson): wka Google RPCs, wkb Facebook Hadoop, wkc web search.
	Sizes string `yaml:"sizes,omitempty" json:"sizes,omitempty" jsonschema:"enum=wka,enum=wkb,enum=wkc"`
	// How sizes are drawn between the rows of a distribution. log, the default: interpolated in the logarithm of the
	// size, as the released simulator does. step: the size of the next row, as Homa's does.
	Sampling Sampling `yaml:"sampling,omitempty" json:"sampling,omitempty" jsonschema:"enum=log,enum=step"`
	// poisson, the default: gaps and sizes are independent. released: both come from one seed, so that the longer the
	// gap, the larger the message after it, as in the released simulator.
	Arrivals Arrivals `yaml:"arrivals,omitempty" json:"arrivals,omitempty" jsonschema:"enum=poisson,enum=released"`

	// When each sender of a fixed stream begins. random, the default: at a random point of the first interval. zero:
	// all at start.
	Phase Phase `yaml:"phase,omitempty" json:"phase,omitempty" jsonschema:"enum=random,enum=zero"`

	// Senders in each incast burst.
	FanIn int `yaml:"fan_in,omitempty" json:"fan_in,omitempty"`

	// Messages an outcast sender keeps on their way to each receiver; 1 unless given.
	Outstanding int `yaml:"outstanding,omitempty" json:"outstanding,omitempty"`
	// Time from one outcast receiver's joining to the next one's; the first joins at start.
	Stagger units.Time `yaml:"stagger,omitempty" json:"stagger,omitempty"`

	// CSV file of a list, relative to the scenario file, with the columns time,src,dst,size and, optionally, reply.
	File string `yaml:"file,omitempty" json:"file,omitempty"`

	// Messages are the rows of File once ReadFile has read them.
	Messages []ListEntry `yaml:"-" json:"messages,omitempty" jsonschema:"-"`
}

// Pattern names who sends to whom and when (README, Patterns).
type Pattern string

// The patterns.
const (
	PatternPoisson Pattern = "poisson"
	PatternFixed   Pattern = "fixed"
	PatternIncast  Pattern = "incast"
	PatternOutcast Pattern = "outcast"
	PatternList    Pattern = "list"
)

// Patterns lists them all.
var Patterns = []Pattern{PatternPoisson, PatternFixed, PatternIncast, PatternOutcast, PatternList}

// Arrivals is how the gaps of a poisson stream relate to its sizes.
type Arrivals string

const (
	// ArrivalsPoisson draws gaps and sizes independently. It is the default.
	ArrivalsPoisson Arrivals = "poisson"
	// ArrivalsReleased draws both from generators with the same seed, as the
	// released simulator does: a message's size has the same rank among sizes
	// as the gap before it has among gaps. Large messages then come after long
	// gaps, which lowers WKc's p99 slowdown by a quarter to a third (README,
	// Arrivals). The paper's numbers have this in them.
	ArrivalsReleased Arrivals = "released"
)

// Latency is where the latency of a message that is answered ends.
type Latency string

const (
	// LatencyRoundTrip counts to the reply's arrival. It is the default.
	LatencyRoundTrip Latency = "round-trip"
	// LatencyRequest counts to the message's own delivery. The released
	// simulator measures so (README, Replies).
	LatencyRequest Latency = "request"
)

// Phase is when the senders of a fixed stream begin.
type Phase string

// The phases. Random is the default.
const (
	PhaseRandom Phase = "random"
	PhaseZero   Phase = "zero"
)

// Distribution returns the sizes of the stream's messages: a single one where
// the size is fixed, those in the file for a list. The stream must be valid.
func (s *Stream) Distribution() *Distribution {
	switch {
	case s.Sizes != "":
		d, err := Workload(s.Sizes)
		if err != nil {
			panic(err) // Validate reports it
		}
		return d
	case s.Pattern == PatternList:
		return distributionOf(s.Name, s.Messages)
	default:
		return fixedSize(s.Size)
	}
}

// sampling is the rule by which sizes are drawn, the default filled in.
func (s *Stream) sampling() Sampling {
	if s.Sizes == "" {
		return SamplingStep
	}
	if s.Sampling == "" {
		return SamplingLog
	}
	return s.Sampling
}

// outstanding is Outstanding with the default filled in.
func (s *Stream) outstanding() int { return max(1, s.Outstanding) }
