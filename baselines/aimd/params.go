package aimd

import (
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
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
		Mark: f.BDP(), Step: line / 200, Cut: 0.05, Least: line / 1000, Timeout: 500 * units.Microsecond, Attempts: 20,
	}
}

// validate names the parameter that cannot work.
func (p *Params) validate() error {
	switch {
	case p.Step <= 0:
		return fmt.Errorf("step is %v: want more than 0", p.Step)
	case !(p.Cut > 0 && p.Cut < 1):
		return fmt.Errorf("cut is %g: want between 0 and 1", p.Cut)
	case p.Least <= 0:
		return fmt.Errorf("least is %v: want more than 0", p.Least)
	case p.Timeout < 10*units.Microsecond:
		return fmt.Errorf("timeout is %v: want at least 10us", p.Timeout)
	case p.Attempts < 1:
		return fmt.Errorf("attempts is %d: want at least 1", p.Attempts)
	}
	return nil
}

// Protocol makes the package selectable: package all lists it.
var Protocol = transport.Protocol{
	Name:          "aimd",
	Wire:          wire.Protocol{Name: "AIMD", Port: 47030, HeaderLen: headerLen, Fields: fields},
	Framing:       framing,
	DefaultParams: defaults,
	Network: func(_ *topo.Fabric, params any) transport.Network {
		mark := params.(*Params).Mark
		return transport.Network{Priorities: 1, MarkCore: mark, MarkEdge: mark}
	},
	New: func(env transport.Env, params any) (transport.Transport, error) {
		return New(env, params.(*Params))
	},
}

var framing = layout.Framing(dataLen)
