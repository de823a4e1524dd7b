package tcp

import (
	"fmt"
	"math"
	"regexp"

	"sirdbed/baselines/flow"
	"sirdbed/sirdnode/transport/param"
	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// Params are the parameters of kernel TCP (README, Parameters). Defaults of the
// kernel's settings are its own; what is not listed here stays as in a new
// namespace.
type Params struct {
	// Congestion control of the kernel: cubic unless given, dctcp, bbr, reno or any other that it has. Only for the
	// protocol tcp; the others are named after theirs.
	CongestionControl string `json:"congestion_control"`
	// Connections from each host to each other host; messages wait when all are busy. They are opened before the run,
	// as many of each pair's as make no more than 20000 in the whole fabric, but one at least; others when needed.
	Connections int `json:"connections"`
	// Receive buffer of a connection: least, initial and largest, as the kernel counts (with its overhead). The kernel
	// adapts it.
	ReceiveBuffer [3]units.Bytes `json:"tcp_rmem"`
	// Send buffer of a connection: least, initial and largest, as the kernel counts. The kernel adapts it.
	SendBuffer [3]units.Bytes `json:"tcp_wmem"`
	// Least retransmission timeout by the kernel's clock, from 1us: the nominal one is that over the run's dilation. 0
	// for the kernel's own, 200ms. Kernels round it up to their ticks, and have it from 6.11 on.
	MinRTO units.Time `json:"tcp_rto_min"`
	// Window that a connection begins with, in segments, as the routes of hosts have it (initcwnd); 0 for the kernel's
	// own, 10.
	InitialWindow int `json:"initcwnd"`
	// A connection that was idle for a retransmission timeout begins with its initial window again, as is Linux's
	// default.
	SlowStartAfterIdle bool `json:"tcp_slow_start_after_idle"`
	// ECN threshold of all switch ports. Default: for dctcp 125KB, 1.25 BDP, for hosts at 100 Gbps, in proportion for
	// others, or 1.25 times the fabric's own BDP if that is larger; no marks for others. inf marks nothing.
	K units.Bytes `json:"k"`
}

// DefaultParams returns the kernel's own buffers and, as for DCTCP and Swift in
// the paper, 40 connections.
func DefaultParams(control string) *Params {
	if control == "" {
		control = "cubic"
	}
	return &Params{
		CongestionControl: control, Connections: 40,
		ReceiveBuffer: [3]units.Bytes{4096, 131072, 6291456},
		SendBuffer:    [3]units.Bytes{4096, 16384, 4194304}, SlowStartAfterIdle: true,
	}
}

// ECNControl is the congestion control for which switches mark.
const ECNControl = "dctcp"

// step returns the ECN step of switch ports, 0 for no marks.
func (p *Params) step(f *topo.Fabric) units.Bytes {
	switch {
	case p.K == units.Unlimited, p.K == 0 && p.CongestionControl != ECNControl:
		return 0
	case p.K > 0:
		return p.K
	}
	return param.EvaluatedMark(f)
}

// ECN reports whether the hosts negotiate ECN.
func (p *Params) ECN() bool {
	return p.CongestionControl == ECNControl || p.K > 0 && p.K != units.Unlimited
}

var controlName = regexp.MustCompile(`^[a-z0-9_-]{1,15}$`)

// Bounds of a buffer's size: the kernel's own minimum, and its largest number.
const (
	leastBuffer   units.Bytes = 4096
	largestBuffer units.Bytes = math.MaxInt32
)

// limits are those of Params.
var limits = limit.Table{
	limit.Text("congestion_control", 1, 15, "the kernel's names are as short"),
	limit.Number("connections", 1, flow.MaxConnections, flow.WhyConnections),
	limit.List("tcp_rmem", 3, 3, "least, initial and largest"),
	limit.Number("tcp_rmem[]", leastBuffer, largestBuffer, whyBuffer),
	limit.List("tcp_wmem", 3, 3, "least, initial and largest"),
	limit.Number("tcp_wmem[]", leastBuffer, largestBuffer, whyBuffer),
	limit.Number[units.Time]("tcp_rto_min", 0, units.Second, "with more no loss would be found in any run"),
	limit.Number("initcwnd", 0, 1<<16, "more than any buffer holds"),
	limit.Number("k", 0, limit.MaxMark, param.WhyMark).OrInfinite(),
}

const whyBuffer = "the kernel has a least one, and counts in 31 bits"

// validate names the parameter that cannot work. own is the congestion control
// of a protocol that is named after one.
func (p *Params) validate(name, own string) error {
	if err := limits.Check(p); err != nil {
		return err
	}
	switch {
	case !controlName.MatchString(p.CongestionControl):
		return fmt.Errorf("congestion_control is %q: want the name of one, such as cubic", p.CongestionControl)
	case own != "" && p.CongestionControl != own:
		return fmt.Errorf("congestion_control is %s, but %s is always %s: use the protocol tcp",
			p.CongestionControl, name, own)
	}
	if p.MinRTO > 0 && p.MinRTO < units.Microsecond {
		return fmt.Errorf("tcp_rto_min is %v: want 0 for the kernel's, or 1us and more", p.MinRTO)
	}
	for _, b := range []struct {
		name  string
		sizes [3]units.Bytes
	}{{"tcp_rmem", p.ReceiveBuffer}, {"tcp_wmem", p.SendBuffer}} {
		s := b.sizes
		if s[1] < s[0] || s[2] < s[1] {
			return fmt.Errorf("%s is [%d, %d, %d]: want least, initial and largest, none above the next", b.name, s[0],
				s[1], s[2])
		}
	}
	return nil
}
