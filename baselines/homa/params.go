package homa

import (
	"encoding/json"
	"fmt"
	"slices"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/layout"
	"sirdbed/sirdnode/transport/param"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Params are Homa's parameters. Defaults are those of SIRD's evaluation, and
// HomaModule's for loss (README, Parameters).
type Params struct {
	// RTTbytes: payload of a message that needs no grants, and the most that may be granted and not yet received. In
	// whole packets, rounded down. Default: 100KB for hosts at 100 Gbps, in proportion for others, or the fabric's own
	// BDP if that is larger.
	RTTBytes units.Bytes `json:"rtt_bytes"`

	// Distribution of message sizes from which the unscheduled priorities' cutoffs are computed: traffic, the default,
	// for what the scenario sends; none for a single unscheduled level.
	Workload string `json:"workload" jsonschema:"enum=traffic,enum=wka,enum=wkb,enum=wkc,enum=none"`
	// Cutoffs in place of computed ones, ascending: a packet of unscheduled data has the first priority whose cutoff is
	// not below the bytes that its message has left. The last level has none.
	Cutoffs []units.Bytes `json:"cutoffs"`
	// Priorities of unscheduled data, of 8; scheduled data has the others. 0 for the workload's (3 for wka, 1 for wkb
	// and wkc, in other traffic by the share of its bytes that are unscheduled), or as many as cutoffs give.
	UnscheduledLevels int `json:"unscheduled_levels"`
	// Degree of overcommitment k: senders that a receiver grants at a time. 0 for as many as there are scheduled
	// priorities.
	Overcommitment int `json:"overcommitment"`
	// Last wire bytes of a message whose scheduled packets have unscheduled priorities (boostTailBytesPrio).
	// HomaSimulation has RTTbytes here, SIRD's evaluation 0.
	BoostTail units.Bytes `json:"boost_tail"`

	// Time without progress after which a receiver requests missing bytes; a sender waits twice that for an answer.
	LossTimeout units.Time `json:"loss_timeout"`
	// Attempts without an answer after which a message fails.
	MaxResends int `json:"max_resends"`
}

// priorities is the number of priority levels (README, Priorities).
const priorities = 8

// defaults returns the parameters for a fabric.
func defaults(f *topo.Fabric) *Params {
	return &Params{
		RTTBytes: param.EvaluatedBDP(f), Workload: ownTraffic,
		LossTimeout: param.Timeout(f, 5*units.Millisecond), MaxResends: 5,
	}
}

// unscheduledLevels returns the number of priorities of unscheduled data.
func (p *Params) unscheduledLevels() int {
	switch {
	case p.UnscheduledLevels != 0:
		return p.UnscheduledLevels
	case len(p.Cutoffs) > 0:
		return len(p.Cutoffs) + 1
	case p.Workload == "wka":
		return 3
	}
	return 1
}

// overcommitment returns how many senders are granted at a time.
func (p *Params) overcommitment() int {
	if p.Overcommitment != 0 {
		return p.Overcommitment
	}
	return priorities - p.unscheduledLevels()
}

// limits are those of Params.
var limits = limit.Table{
	limit.Number("rtt_bytes", 1, maxRTTBytes, "a header counts unscheduled packets in 16 bits"),
	limit.List("cutoffs", 0, priorities-2, "scheduled data has a priority too"),
	limit.Number("cutoffs[]", 0, layout.MaxMessage, whyMessage),
	limit.Number("unscheduled_levels", 0, priorities-1, "scheduled data has a priority too"),
	limit.Number("overcommitment", 0, limit.MaxHosts, "no receiver has more senders"),
	limit.Number("boost_tail", 0, layout.MaxMessage, whyMessage),
	limit.Number("loss_timeout", 10*units.Microsecond, limit.MaxSpan, param.WhyTimeout),
	limit.Number("max_resends", 1, 1000, param.WhyAttempts),
}

const (
	maxRTTBytes = maxUnscheduled * limit.MaxMTU
	whyMessage  = "no message is longer"
)

// validate names the parameter that cannot work.
func (p *Params) validate(mss units.Bytes) error {
	if err := limits.Check(p); err != nil {
		return err
	}
	levels := p.unscheduledLevels()
	switch {
	case p.RTTBytes < mss || p.RTTBytes/mss > maxUnscheduled:
		return fmt.Errorf("rtt_bytes is %v: want one to %d packets of %d bytes", p.RTTBytes, maxUnscheduled, mss)
	case p.Workload != "none" && p.Workload != ownTraffic && !slices.Contains(traffic.Workloads(), p.Workload):
		return fmt.Errorf("workload is %q: want %s, none or one of %q", p.Workload, ownTraffic, traffic.Workloads())
	case len(p.Cutoffs) > 0 && p.Workload != "none" && p.Workload != ownTraffic:
		return fmt.Errorf("cutoffs are given and computed: want no workload beside them, not %q", p.Workload)
	case len(p.Cutoffs) > 0 && levels != len(p.Cutoffs)+1:
		return fmt.Errorf("unscheduled_levels is %d: want %d with %d cutoffs", p.UnscheduledLevels, len(p.Cutoffs)+1,
			len(p.Cutoffs))
	case levels > 1 && len(p.Cutoffs) == 0 && p.Workload == "none":
		return fmt.Errorf("unscheduled_levels is %d: want a workload, or cutoffs, to divide them by", levels)
	}
	for i, c := range p.Cutoffs {
		if i > 0 && c <= p.Cutoffs[i-1] {
			return fmt.Errorf("cutoffs are %v: want them to ascend", p.Cutoffs)
		}
	}
	return nil
}

// Protocol is Homa, for the list of transports that a scenario can select.
var Protocol = transport.Protocol{
	Name:          "homa",
	Wire:          wire.Protocol{Name: "Homa", Port: Port, HeaderLen: headerLen, Header: &table},
	Framing:       framing,
	DefaultParams: func(f *topo.Fabric) any { return defaults(f) },
	Limits:        limits,
	Fit: func(f *topo.Fabric, params any, streams []traffic.Stream) json.RawMessage {
		return params.(*Params).fit(f, streams)
	},
	Window:  func(params any) units.Bytes { return params.(*Params).RTTBytes },
	Network: func(*topo.Fabric, any) transport.Network { return transport.Network{Priorities: priorities} },
	New: func(env transport.Env, params any) (transport.Transport, error) {
		return New(env, params.(*Params))
	},
}

var framing = layout.Framing(dataLen)
