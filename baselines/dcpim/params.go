package dcpim

import (
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/transport/param"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// Params are dcPIM's parameters (README, Parameters).
type Params struct {
	// Rounds r of a matching.
	Rounds int `json:"rounds"`
	// Channels k of each host, as a sender and as a receiver; each carries 1/k of its link's rate.
	Channels int `json:"channels"`
	// Length of a round in control round trips of the fabric. What is above 1 covers queueing of control packets.
	Beta float64 `json:"beta"`
	// Length of a data phase in matchings, rounded to whole rounds.
	Alpha float64 `json:"alpha"`
	// Number of first rounds in which hosts prefer the shortest messages; in later ones they choose at random.
	SelectMinRounds int `json:"select_min_rounds"`

	// Channels that are matched and that both ends leave idle in the present data phase carry data at once, as
	// released, and not from the next data phase on.
	PromptLinks bool `json:"prompt_links"`

	// Bandwidth-delay product in wire bytes, taken as whole packets. Default: the fabric's, a full packet there and
	// back over the longest path.
	BDP units.Bytes `json:"bdp"`
	// Messages of at most this many BDP are short: they are sent at once, without tokens.
	TokenInitial float64 `json:"token_initial"`
	// Most tokens of a message without an answer, over all k channels, in BDP.
	TokenWindow float64 `json:"token_window"`
	// Life of a token at its sender after its data phase has ended there, in packet times.
	TokenTimeout float64 `json:"token_timeout"`
	// Time from the last token of a message, or the last packet of a short one, until what is missing gets tokens
	// again, in BDP at line rate.
	TokenResendTimeout float64 `json:"token_resend_timeout"`
	// Time after which a full token window is opened again, in BDP at line rate.
	TokenWindowTimeout float64 `json:"token_window_timeout"`
	// When a short message begins to arrive, leave out as many tokens as it has packets.
	SkipTokens bool `json:"token_hold"`

	// Data packets are full ones, however few bytes of a message they have, as those of the released simulator are
	// (pimflow.cpp, send). What is beyond the message's end is of no meaning.
	FullPackets bool `json:"full_packets"`
	// Which packet a sender sends next is as the queue of the released simulator has it, in which messages mix, and not
	// one of the message with the fewest packets left.
	ReleasedOrder bool `json:"released_order"`

	// Priority levels: the first for control packets, the others for data by message size; 1 to 8.
	Priorities int `json:"priorities"`
	// Messages of up to this many packets have the first data level, up to its square the second, and so on. 0: as
	// many as a short message may have.
	PriorityBase int `json:"priority_base"`

	// Time without an answer after which a sender announces a message again, in epochs (a matching and its data phase);
	// doubles up to 16 times that.
	RetryTimeout float64 `json:"retry_timeout"`
	// Announcements without an answer after which a message fails.
	MaxRetries int `json:"max_retries"`
}

// defaults returns the parameters for a fabric.
func defaults(f *topo.Fabric) *Params {
	fr := framing(f.Spec.MTU)
	return &Params{
		Rounds: 4, Channels: 4, Beta: 1.3, Alpha: 1, SelectMinRounds: 1, PromptLinks: true,
		BDP: bandwidthDelay(f, fr.Wire(fr.MSS)), TokenInitial: 1, TokenWindow: 1,
		TokenTimeout: 8, TokenResendTimeout: 1, TokenWindowTimeout: 1.1, SkipTokens: true,
		Priorities: 3, RetryTimeout: 1, MaxRetries: 10,
	}
}

// maxChannels follows from the token's priority, which has 4 bits.
const maxChannels = 8

// limits are those of Params.
var limits = limit.Table{
	limit.Number("rounds", 1, 64, "a matching of more takes longer than it can gain"),
	limit.Number("channels", 1, maxChannels, "a token's header counts them in 4 bits"),
	limit.Number("beta", 1, 1000., "a round is one round trip at least; times stay far from overflow"),
	limit.Number("alpha", 1, 16., "a data phase is one matching at least; times stay far from overflow"),
	limit.Number("select_min_rounds", 0, 64, "a matching has no more rounds"),
	limit.Number("bdp", 1, maxBDP, "the packets of a window have room in memory"),
	limit.Number("token_initial", 0, 1000., whyBDPs),
	limit.Number("token_window", 0.01, 1000., whyBDPs),
	limit.Number("token_timeout", 0, 1e6, whyLong),
	limit.Number("token_resend_timeout", 0.1, 1e6, whyLong),
	limit.Number("token_window_timeout", 0.1, 1e6, whyLong),
	limit.Number("priorities", 1, 8, "ports have as many levels"),
	limit.Number("priority_base", 0, 1<<20, "its powers are numbers of packets"),
	limit.Number("retry_timeout", 0.1, 1e6, whyLong),
	limit.Number("max_retries", 1, 1000, param.WhyAttempts),
}

const (
	maxBDP  units.Bytes = 1 << 30
	whyBDPs             = "a window of more would be none"
	whyLong             = "longer than any run"
)

// validate names the parameter that cannot work.
func (p *Params) validate(frame units.Bytes) error {
	if err := limits.Check(p); err != nil {
		return err
	}
	if p.BDP < frame {
		return fmt.Errorf("bdp is %v: want at least one full frame of %d wire bytes", p.BDP, frame)
	}
	if p.PriorityBase == 1 {
		return fmt.Errorf("priority_base is 1: want 2 or more packets, or 0")
	}
	return nil
}

// level returns the packet priority of a class. Class 0 is that of control
// packets, whose level is the most urgent in use.
func (p *Params) level(class int) uint8 { return uint8(max(0, p.Priorities-1-class)) }

// class returns the class of a message's data, from 1 (README, Priorities): the
// released simulator's DCExpParams::packet_priority, called with base
// token_initial.
func (p *Params) class(packets, short int) int {
	base := p.PriorityBase
	if base == 0 {
		base = max(2, short)
	}
	class := 1
	for limit := base; packets > limit && class < 7; limit *= base {
		class++
	}
	return class
}

// Protocol is dcPIM, for the list of transports that a scenario can select.
var Protocol = transport.Protocol{
	Name:          "dcpim",
	Wire:          wire.Protocol{Name: "dcPIM", Port: Port, HeaderLen: lengths.Len, Header: &table},
	Framing:       framing,
	DefaultParams: func(f *topo.Fabric) any { return defaults(f) },
	Limits:        limits,
	ToAck:         true,
	Window: func(params any) units.Bytes {
		p := params.(*Params)
		return units.Bytes(p.TokenWindow * float64(p.BDP))
	},
	Rounds: func(f *topo.Fabric, params any) transport.Rounds {
		p := params.(*Params)
		round := 2 * halfRound(roundTrip(f, topo.MinWire), p)
		return transport.Rounds{Length: round, Param: "beta", Value: p.Beta}
	},
	Network: func(_ *topo.Fabric, params any) transport.Network {
		return transport.Network{Priorities: min(max(1, params.(*Params).Priorities), 8)}
	},
	New: func(env transport.Env, params any) (transport.Transport, error) {
		return New(env, params.(*Params))
	},
}

var framing = layout.Framing(dataLen)
