package swift

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

// Port is the UDP destination port of Swift.
const Port = 47021

// Params are Swift's parameters. Defaults are those of the paper's evaluation
// as released (README, Parameters).
type Params struct {
	// Target delay without hops and flow scaling. Default: 15us, 2 x RTT, or twice the fabric's own unloaded round
	// trip of a full packet if that is longer.
	BaseTarget units.Time `json:"base_target"`
	// Target delay added for each switch on the path.
	PerHop units.Time `json:"per_hop"`
	// Largest target delay that flow scaling adds. 75us as released, 5 base targets by default; the paper's table
	// reads 5 x RTT, 37.5us.
	FSRange units.Time `json:"fs_range"`
	// Window in segments up to which flow scaling adds all of fs_range.
	FSMin float64 `json:"fs_min"`
	// Window in segments from which flow scaling adds nothing.
	FSMax float64 `json:"fs_max"`
	// The delay has the time in it for which data that the window allows waits for the host's NIC, as released. In the
	// Swift paper it begins when the NIC takes a packet.
	UplinkWait bool `json:"uplink_wait"`
	// Data of all connections leaves the host in the order in which windows allowed it, as from the released NIC's one
	// queue. Without, connections take turns, as hosts' schedulers have it.
	UplinkFIFO bool `json:"uplink_fifo"`
	// Additive increase in segments for each window.
	AI float64 `json:"ai"`
	// Multiplicative decrease, as a share of the delay's excess over its target.
	Beta float64 `json:"beta"`
	// Largest decrease, as a share of the window.
	MaxMDF float64 `json:"max_mdf"`

	// Window in segments that every message begins with. Default: 66, 1 BDP, for hosts at 100 Gbps, in proportion for
	// others, or the fabric's own BDP if that is larger.
	InitialWindow float64 `json:"initial_window"`
	// Least window in segments. Below 1, segments are paced.
	MinWindow float64 `json:"min_window"`
	// Largest window in segments.
	MaxWindow float64 `json:"max_window"`

	// Least retransmission timeout. It doubles with each one in a row, up to 64 times.
	MinRTO units.Time `json:"min_rto"`
	// Retransmission timeouts in a row after which the window is min_window.
	RetxReset int `json:"retx_reset"`
	// Retransmission timeouts in a row that a message survives; with one more it fails.
	MaxTimeouts int `json:"max_timeouts"`
	// Connections from each host to each other host; messages wait when all are busy.
	Connections int `json:"connections"`
}

// DefaultParams returns the parameters of the paper's evaluation for a fabric.
func DefaultParams(f *topo.Fabric) *Params {
	scale := float64(param.EvaluatedBDP(f)) / float64(100*units.Kilobyte)
	base := max(15*units.Microsecond, 2*f.LongestLoop())
	return &Params{
		BaseTarget: base, PerHop: units.Microsecond, FSRange: 5 * base, FSMin: 0.1, FSMax: 100, UplinkWait: true,
		AI: 1, Beta: 0.8, MaxMDF: 0.5,
		InitialWindow: max(1, math.Round(66*scale)), MinWindow: 0.001, MaxWindow: max(1, math.Round(1256*scale)),
		MinRTO: param.Timeout(f, 10*units.Millisecond), RetxReset: 12, MaxTimeouts: 15, Connections: 40,
	}
}

// whyTarget is why target delays are limited.
const whyTarget = "a delay of a second is none that a window could answer"

// limits are those of Params.
var limits = limit.Table{
	limit.Number("base_target", 1, units.Second, whyTarget),
	limit.Number[units.Time]("per_hop", 0, units.Second, whyTarget),
	limit.Number[units.Time]("fs_range", 0, units.Second, whyTarget),
	limit.Number("fs_min", leastWindow, flow.MaxWindow, flow.WhyWindow),
	limit.Number("fs_max", 0.001, flow.MaxWindow, flow.WhyWindow),
	limit.Number("ai", 0, 100., "with more one increase would fill a window"),
	limit.Number("beta", 0, 1., "it is a share"),
	limit.Number("max_mdf", 0, 0.999, "a decrease leaves some of the window"),
	limit.Number("initial_window", leastWindow, flow.MaxWindow, flow.WhyWindow),
	limit.Number("min_window", leastWindow, 1., "below a segment a window is a pace, and with less there is none"),
	limit.Number("max_window", 1, flow.MaxWindow, flow.WhyWindow),
	limit.Number("min_rto", units.Microsecond, units.Second, param.WhyTimeout),
	limit.Number("retx_reset", 1, 1000, param.WhyAttempts),
	limit.Number("max_timeouts", 1, 1000, param.WhyAttempts),
	limit.Number("connections", 1, flow.MaxConnections, flow.WhyConnections),
}

const leastWindow = 1e-6

// validate names the parameter that cannot work.
func (p *Params) validate() error {
	if err := limits.Check(p); err != nil {
		return err
	}
	if !(p.FSMin < p.FSMax) {
		return fmt.Errorf("fs_min is %g: want less than fs_max, %g", p.FSMin, p.FSMax)
	}
	return param.InRange("initial_window", p.InitialWindow, p.MinWindow, p.MaxWindow)
}

// Protocol is Swift, for the list of transports that a scenario can select.
var Protocol = transport.Protocol{
	Name:          "swift",
	Wire:          wire.Protocol{Name: "Swift", Port: Port, HeaderLen: flow.HeaderLen, Header: &flow.Headers},
	Framing:       flow.Framing,
	DefaultParams: func(f *topo.Fabric) any { return DefaultParams(f) },
	Limits:        limits,
	Network:       func(*topo.Fabric, any) transport.Network { return transport.Network{Priorities: 1} },
	New: func(env transport.Env, params any) (transport.Transport, error) {
		return New(env, params.(*Params))
	},
}
