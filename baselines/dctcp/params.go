package dctcp

import (
	"fmt"
	"math"

	"sirdbed/baselines/flow"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/param"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// Port is the UDP destination port of DCTCP.
const Port = 47020

// Params are DCTCP's parameters. Defaults are those of the paper's evaluation
// (README, Parameters).
type Params struct {
	// Window in segments that every message begins with. Default: 66, 1 BDP, for hosts at 100 Gbps, in proportion for
	// others, or the fabric's own BDP if that is larger.
	InitialWindow float64 `json:"initial_window"`
	// Largest window in segments.
	MaxWindow float64 `json:"max_window"`
	// Which acknowledgements let the window grow: always, as released, all but the first marked one of a burst;
	// limited, as in Linux, those without a mark, and only while the window limits the sender.
	Growth string `json:"growth" jsonschema:"enum=always,enum=limited"`
	// EWMA gain g of alpha, the estimated share of marked segments.
	Gain float64 `json:"gain"`
	// Alpha of a new connection: 0 as released; Linux has 1.
	InitialAlpha float64 `json:"initial_alpha"`
	// ECN threshold of all switch ports. Default: 125KB, 1.25 BDP, for hosts at 100 Gbps, in proportion for others, or
	// 1.25 times the fabric's own BDP if that is larger (released: 123KB); 0 marks nothing.
	K units.Bytes `json:"k"`
	// A host's own queue, of data that windows allow and the NIC has not taken, marks at k too, as released. Otherwise
	// a window that only the uplink limits grows to max_window.
	UplinkMarks bool `json:"uplink_marks"`
	// Data of all connections leaves the host in the order in which windows allowed it, as from the released NIC's one
	// queue. Without, connections take turns, as hosts' schedulers have it.
	UplinkFIFO bool `json:"uplink_fifo"`

	// Least retransmission timeout. It doubles with each one in a row, up to 64 times.
	MinRTO units.Time `json:"min_rto"`
	// Retransmission timeouts in a row that a message survives; with one more it fails.
	MaxTimeouts int `json:"max_timeouts"`

	// Longest delay of an acknowledgement; 0 delays none.
	DelayedAck units.Time `json:"delayed_ack"`
	// Full segments after which an acknowledgement is not delayed. 1 as released: only those of short segments are.
	SegmentsPerAck int `json:"segments_per_ack"`
	// Connections from each host to each other host; messages wait when all are busy.
	Connections int `json:"connections"`
}

// DefaultParams returns the parameters of the paper's evaluation for a fabric.
func DefaultParams(f *topo.Fabric) *Params {
	scale := float64(param.EvaluatedBDP(f)) / float64(100*units.Kilobyte)
	return &Params{
		InitialWindow: max(1, math.Round(66*scale)), MaxWindow: max(1, math.Round(1256*scale)),
		Growth: "always", Gain: 0.08, InitialAlpha: 0, K: param.EvaluatedMark(f),
		UplinkMarks: true, MinRTO: param.Timeout(f, 200*units.Microsecond), MaxTimeouts: 15,
		DelayedAck: 6 * units.Microsecond, SegmentsPerAck: 1, Connections: 40,
	}
}

// limits are those of Params.
var limits = limit.Table{
	limit.Number("initial_window", 1, flow.MaxWindow, flow.WhyWindow),
	limit.Number("max_window", 1, flow.MaxWindow, flow.WhyWindow),
	limit.Number("gain", 0, 1., "it is a share"),
	limit.Number("initial_alpha", 0, 1., "it is a share"),
	limit.Number("k", 0, limit.MaxMark, param.WhyMark),
	limit.Number("min_rto", units.Microsecond, units.Second, param.WhyTimeout),
	limit.Number("max_timeouts", 1, 1000, param.WhyAttempts),
	limit.Number[units.Time]("delayed_ack", 0, units.Second, "it has to be less than min_rto"),
	limit.Number("segments_per_ack", 1, 1000, "a sender waits for acknowledgements"),
	limit.Number("connections", 1, flow.MaxConnections, flow.WhyConnections),
}

// validate names the parameter that cannot work.
func (p *Params) validate(frame units.Bytes) error {
	if err := limits.Check(p); err != nil {
		return err
	}
	if err := param.InRange("initial_window", p.InitialWindow, 1, p.MaxWindow); err != nil {
		return err
	}
	if p.Growth != "always" && p.Growth != "limited" {
		return fmt.Errorf(`growth is %q: want "always" or "limited"`, p.Growth)
	}
	if p.K != 0 && p.K < frame {
		return fmt.Errorf("k is %v: want 0 or at least one full frame of %d wire bytes", p.K, frame)
	}
	if p.DelayedAck >= p.MinRTO {
		return fmt.Errorf("delayed_ack is %v: want less than min_rto, %v", p.DelayedAck, p.MinRTO)
	}
	return nil
}

// Protocol is DCTCP, for the list of transports that a scenario can select.
var Protocol = transport.Protocol{
	Name:          "dctcp",
	Wire:          wire.Protocol{Name: "DCTCP", Port: Port, HeaderLen: flow.HeaderLen, Header: &flow.Headers},
	Framing:       flow.Framing,
	DefaultParams: func(f *topo.Fabric) any { return DefaultParams(f) },
	Limits:        limits,
	Network: func(_ *topo.Fabric, params any) transport.Network {
		k := params.(*Params).K
		return transport.Network{Priorities: 1, MarkCore: k, MarkEdge: k}
	},
	New: func(env transport.Env, params any) (transport.Transport, error) {
		return New(env, params.(*Params))
	},
}
