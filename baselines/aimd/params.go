package aimd

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/transport/param"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// Params are what a scenario can set, under the key "aimd".
type Params struct {
	// ECN threshold of all switch ports. Default: a BDP.
	Mark units.Bytes `json:"mark"`
	// Rate added for each acknowledged round trip without a mark.
	Step units.BitsPerSecond `json:"step"`
	// Share of the rate that a mark takes away, once each round trip.
	Cut float64 `json:"cut"`
	// Lowest rate towards a receiver.
	Least units.BitsPerSecond `json:"least"`
	// Time without progress after which what is not acknowledged is sent again.
	Timeout units.Time `json:"timeout"`
	// Timeouts in a row after which a message fails.
	Attempts int `json:"attempts"`
}

func defaults(f *topo.Fabric) any {
	line := f.Spec.HostRate
	return &Params{
		Mark: f.BDP(), Step: line / 200, Cut: 0.05, Least: line / 1000,
		Timeout: param.Timeout(f, 500*units.Microsecond), Attempts: 20,
	}
}

// limits are those of Params.
var limits = limit.Table{
	limit.Number("mark", 0, limit.MaxMark, param.WhyMark),
	limit.Number("step", 1, limit.MaxRate, "rates have to grow, to no more than a link's"),
	limit.Number("cut", 0.000001, 0.999999, "a mark takes some of the rate, not all"),
	limit.Number("least", units.Kbps, limit.MaxRate, "with less a packet would take minutes"),
	limit.Number("timeout", 10*units.Microsecond, limit.MaxSpan, param.WhyTimeout),
	limit.Number("attempts", 1, 1000, param.WhyAttempts),
}

// validate names the parameter that cannot work.
func (p *Params) validate() error { return limits.Check(p) }

// Protocol makes the package selectable: package all lists it.
var Protocol = transport.Protocol{
	Name:          "aimd",
	Wire:          wire.Protocol{Name: "AIMD", Port: 47030, HeaderLen: headerLen, Header: &table},
	Framing:       framing,
	DefaultParams: defaults,
	Limits:        limits,
	Network: func(_ *topo.Fabric, params any) transport.Network {
		mark := params.(*Params).Mark
		return transport.Network{Priorities: 1, MarkCore: mark, MarkEdge: mark}
	},
	New: func(env transport.Env, params any) (transport.Transport, error) {
		return New(env, params.(*Params))
	},
}

var framing = layout.Framing(dataLen)
