package xpass

import (
	"cmp"
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/transport/param"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// Params are ExpressPass's parameters. Defaults are those of the SIRD paper's
// evaluation, taken from its released configuration where the paper's table is
// silent (README, Parameters).
type Params struct {
	// Credit rate that a message starts with, as a share of the highest.
	Alpha float64 `json:"alpha"`
	// Messages of fewer packets than this start at a rate that is lower in proportion; 1: none do.
	ShortMessage int `json:"short_message"`
	// Aggressiveness w that a message starts with: how far an increase goes from the rate to the highest.
	WInit float64 `json:"w_init"`
	// Lower bound of w, which congestion halves.
	WMin float64 `json:"w_min"`
	// Upper bound of w.
	WMax float64 `json:"w_max"`
	// How w grows at each update that follows one without congestion: by a step of w_step, as in KAIST's code, or half
	// of the way to w_max, as in the ExpressPass paper.
	WIncrease string `json:"w_increase" jsonschema:"enum=step,enum=half"`
	// Growth of w by a step.
	WStep float64 `json:"w_step"`
	// Share of credits lost up to which there is no congestion, at rate 0; it falls in proportion to 0 at the highest
	// rate.
	TargetLoss float64 `json:"target_loss"`
	// EWMA gain of the measured round trip.
	RTTGain float64 `json:"rtt_gain"`

	// Gaps between credits vary evenly by up to this share either way.
	Jitter float64 `json:"jitter"`
	// Least size of a credit on the wire, preamble and gap included. Credits below Ethernet's 84 bytes are 84.
	CreditMin units.Bytes `json:"credit_min"`
	// Largest size of a credit; sizes are drawn evenly from credit_min to credit_max.
	CreditMax units.Bytes `json:"credit_max"`
	// Credits that a port has room for.
	Queue int `json:"credit_queue"`
	// A sender stops its credits when those that came within a round trip are at least this many times the packets
	// left; 0: only when it has sent everything.
	EarlyStop float64 `json:"early_stop"`
	// Connections from one host to another, each of which carries one message at a time; further messages wait.
	Connections int `json:"connections"`

	// Time without an answer after which a sender repeats its request.
	RetransmitTimeout units.Time `json:"retransmit_timeout"`
	// Time without a packet of a sender after which its receiver sends it no more credits.
	StopTimeout units.Time `json:"credit_stop_timeout"`
	// Attempts without an answer after which a message fails.
	MaxAttempts int `json:"max_attempts"`
}

// defaults returns the parameters for a fabric.
func defaults(f *topo.Fabric) *Params {
	return &Params{
		Alpha: 1. / 16, ShortMessage: 40, WInit: 1. / 16, WMin: 0.01, WMax: 0.5, WIncrease: "step", WStep: 0.05,
		TargetLoss: 1. / 8, RTTGain: 0.2,
		Jitter: 0.1, CreditMin: 76, CreditMax: 92, Queue: 8, EarlyStop: 1, Connections: 40,
		RetransmitTimeout: param.Timeout(f, 100*units.Microsecond), StopTimeout: param.Timeout(f, 2*units.Millisecond),
		MaxAttempts: 100,
	}
}

// maxCredit is the largest credit that the header's padding makes.
const maxCredit = topo.MinWire + maxPad

// Reasons that several limits have.
const (
	whyShare  = "it is a share"
	whyMoves  = "it is a share, and with 0 rates would never move"
	whyCredit = "a credit's padding is no longer"
)

// limits are those of Params.
var limits = limit.Table{
	limit.Number("alpha", 1e-6, 1, whyMoves),
	limit.Number("short_message", 1, 1_000_000, "it is a number of packets"),
	limit.Number("w_init", 1e-6, 1, whyMoves),
	limit.Number("w_min", 1e-6, 1, whyMoves),
	limit.Number("w_max", 1e-6, 1, whyMoves),
	limit.Number("w_step", 0, 1., whyShare),
	limit.Number("target_loss", 0, 1., whyShare),
	limit.Number("rtt_gain", 1e-6, 1, whyMoves),
	limit.Number("jitter", 0, 1., whyShare),
	limit.Number("credit_min", 0, maxCredit, whyCredit),
	limit.Number("credit_max", 0, maxCredit, whyCredit),
	limit.Number("credit_queue", 1, 10_000, "a credit that waits long is of no use"),
	limit.Number("early_stop", 0, 1000., "with more no sender would ever stop early"),
	limit.Number("connections", 1, 1<<16, "a header names a connection in 16 bits"),
	limit.Number("retransmit_timeout", units.Microsecond, limit.MaxSpan, param.WhyTimeout),
	limit.Number("credit_stop_timeout", units.Microsecond, limit.MaxSpan, param.WhyTimeout),
	limit.Number("max_attempts", 1, 1_000_000, param.WhyAttempts),
}

// validate names the parameter that cannot work.
func (p *Params) validate() error {
	inRange := param.InRange[float64]
	if err := limits.Check(p); err != nil {
		return err
	}
	if err := cmp.Or(
		inRange("w_max", p.WMax, p.WMin, 1),
		param.OneOf("w_increase", p.WIncrease, "step", "half"),
		inRange("w_init", p.WInit, p.WMin, p.WMax),
		param.InRange("credit_max", p.CreditMax, p.CreditMin, maxCredit),
	); err != nil {
		return err
	}
	if p.StopTimeout < p.RetransmitTimeout {
		return fmt.Errorf("credit_stop_timeout is %v: want at least retransmit_timeout, %v", p.StopTimeout,
			p.RetransmitTimeout)
	}
	return nil
}

// CreditSize returns the mean size of a credit on the wire, in bytes. The
// released simulator uses its sizes of 76 to 92 bytes as they are, 84 on
// average; Ethernet carries no fewer than 84, so here it is 86.1 (README,
// Ports).
func (p *Params) CreditSize() float64 {
	sum := units.Bytes(0)
	for size := p.CreditMin; size <= p.CreditMax; size++ {
		sum += max(size, topo.MinWire)
	}
	return float64(sum) / float64(p.CreditMax-p.CreditMin+1)
}

// CreditShare returns the share of each link that credits may take, such that
// the full-size packets that they bring fill the rest. With credits of 84 bytes
// and packets of 1500 it is ExpressPass's 84/(84+1538) (README, Ports).
func CreditShare(f *topo.Fabric, p *Params) float64 {
	return p.CreditSize() / (p.CreditSize() + float64(f.FullFrame()))
}

// Protocol is ExpressPass, for the list of transports that a scenario can
// select.
var Protocol = transport.Protocol{
	Name:          "xpass",
	Wire:          wire.Protocol{Name: "ExpressPass", Port: Port, HeaderLen: headerLen, Header: &table},
	Framing:       framing,
	DefaultParams: func(f *topo.Fabric) any { return defaults(f) },
	Limits:        limits,
	Network: func(f *topo.Fabric, params any) transport.Network {
		p := params.(*Params)
		return transport.Network{Priorities: 1, CreditClass: true, CreditQueue: p.Queue, CreditShare: CreditShare(f, p)}
	},
	New: func(env transport.Env, params any) (transport.Transport, error) {
		return New(env, params.(*Params))
	},
}

var framing = layout.Framing(dataLen)
