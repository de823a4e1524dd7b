package dcpim

import (
	"cmp"
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/transport/param"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
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
		Rounds: 4, Channels: 4, Beta: 1.3, Alpha: 1, SelectMinRounds: 1,
		BDP: bandwidthDelay(f, fr.Wire(fr.MSS)), TokenInitial: 1, TokenWindow: 1,
		TokenTimeout: 8, TokenResendTimeout: 1, TokenWindowTimeout: 1.1, SkipTokens: true,
		Priorities: 3, RetryTimeout: 1, MaxRetries: 10,
	}
}

// maxChannels follows from the token's priority, which has 4 bits.
const maxChannels = 8

// validate names the parameter that cannot work.
func (p *Params) validate(frame units.Bytes) error {
	inRange := param.InRange[float64]
	if err := cmp.Or(
		inRange("rounds", float64(p.Rounds), 1, 64),
		inRange("channels", float64(p.Channels), 1, maxChannels),
		inRange("beta", p.Beta, 1, 1000),
		inRange("alpha", p.Alpha, 1, 16),
		inRange("select_min_rounds", float64(p.SelectMinRounds), 0, 64),
		inRange("token_initial", p.TokenInitial, 0, 1000),
		inRange("token_window", p.TokenWindow, 0.01, 1000),
		inRange("token_timeout", p.TokenTimeout, 0, 1e6),
		inRange("token_resend_timeout", p.TokenResendTimeout, 0.1, 1e6),
		inRange("token_window_timeout", p.TokenWindowTimeout, 0.1, 1e6),
		inRange("priorities", float64(p.Priorities), 1, 8),
		inRange("retry_timeout", p.RetryTimeout, 0.1, 1e6),
		inRange("max_retries", float64(p.MaxRetries), 1, 1000),
	); err != nil {
		return err
	}
	if p.BDP < frame || p.BDP > 1<<30 {
		return fmt.Errorf("bdp is %v: want at least one full frame of %d wire bytes, and at most 1GiB", p.BDP, frame)
	}
	if p.PriorityBase != 0 && (p.PriorityBase < 2 || p.PriorityBase > 1<<20) {
		return fmt.Errorf("priority_base is %d: want 2 to %d packets, or 0", p.PriorityBase, 1<<20)
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
	Wire:          wire.Protocol{Name: "dcPIM", Port: Port, HeaderLen: lengths.Len, Fields: fields},
	Framing:       framing,
	DefaultParams: func(f *topo.Fabric) any { return defaults(f) },
	Network: func(_ *topo.Fabric, params any) transport.Network {
		return transport.Network{Priorities: min(max(1, params.(*Params).Priorities), 8)}
	},
	New: func(env transport.Env, params any) (transport.Transport, error) {
		return New(env, params.(*Params))
	},
}

var framing = layout.Framing(dataLen)
