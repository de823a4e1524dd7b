//go:build linux

package port

import (
	"encoding/binary"
	"math"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
	"sirdbed/topo/units"
)

// A Wire is the serialization and propagation of one direction of a link, by
// the kernel's clock. HTB only spaces packets; the wire makes each take its
// time.
//
// It is netem on an ifb device at the receiving end, fed by an ingress redirect.
// Sockets bound to ETH_P_ALL see a frame before the wire, those bound to
// ETH_P_IP behind it. netem has the 24 bytes of overhead but no minimum: frames
// of less than 60 bytes, such as a bare TCP acknowledgement, are a few bytes too
// short on it.
type Wire struct {
	Rate  units.BitsPerSecond
	Delay time.Duration
	Lose  bool // every frame
}

// Attributes of netem and mirred (include/uapi/linux/pkt_sched.h,
// tc_act/tc_mirred.h).
const (
	tcaNetemRate      = 6
	tcaNetemRate64    = 8
	tcaNetemLatency64 = 10

	tcaActKind     = 1
	tcaActOptions  = 2
	tcaMirredParms = 2
	egressRedirect = 1 // TCA_EGRESS_REDIR
	actStolen      = 4 // TC_ACT_STOLEN

	// wirePackets is netem's limit: no link has as many in flight.
	wirePackets = 1 << 20
)

// Install adds the requests that put the wire before an interface, by way of
// the ifb device with the given index in the same namespace.
func (w Wire) Install(b *rtnl.Batch, index int, device string, ifb int) {
	w.Serialize(b, ifb, "wire of "+device)
	Redirect(b, index, device, ifb)
}

// Serialize adds the request that makes an interface's egress the wire.
func (w Wire) Serialize(b *rtnl.Batch, index int, device string) {
	w.netem(tree{b: b, index: index, device: device})
}

// Change adds the request that makes an installed wire w. Frames on it stay in order, and
// keep their times.
func (w Wire) Change(b *rtnl.Batch, index int, device string) {
	w.netem(tree{b: b, index: index, device: device, change: true})
}

func (w Wire) netem(p tree) {
	b := p.b
	p.qdisc("netem", rootHandle, parentRoot)
	rate := uint64(max(1, w.Rate/8))
	var opt [24]byte // struct tc_netem_qopt: latency in ticks, limit, ...
	binary.NativeEndian.PutUint32(opt[4:], wirePackets)
	if w.Lose {
		binary.NativeEndian.PutUint32(opt[8:], math.MaxUint32) // a share of 2^32, rounded down
	}
	b.Nest(unix.TCA_OPTIONS, opt[:], func() {
		b.Uint64(tcaNetemLatency64, uint64(w.Delay))
		var r [16]byte // struct tc_netem_rate: rate, packet_overhead, cell_size, cell_overhead
		binary.NativeEndian.PutUint32(r[0:], uint32(min(rate, math.MaxUint32)))
		binary.NativeEndian.PutUint32(r[4:], uint32(wireOverhead))
		b.Attr(tcaNetemRate, r[:])
		if rate > math.MaxUint32 {
			b.Uint64(tcaNetemRate64, rate)
		}
	})
}

// Redirect adds the requests that send everything that arrives at an interface
// to the egress of another.
func Redirect(b *rtnl.Batch, index int, device string, to int) {
	p := tree{b: b, index: index, device: device}
	p.clsact()
	p.b.Request("add filter u32 with action mirred", p.device, unix.RTM_NEWTFILTER, unix.NLM_F_CREATE|unix.NLM_F_EXCL,
		rtnl.Traffic(p.index, 0, clsactIngress, filterInfo(unix.ETH_P_ALL)))
	p.b.String(unix.TCA_KIND, "u32")
	p.b.Nest(unix.TCA_OPTIONS, nil, func() {
		p.b.Attr(tcaU32Sel, u32Selector(0, 0))
		p.b.Nest(tcaU32Act, nil, func() {
			p.b.Nest(1, nil, func() { // the first action
				p.b.String(tcaActKind, "mirred")
				p.b.Nest(tcaActOptions, nil, func() {
					var m [28]byte // struct tc_mirred
					binary.NativeEndian.PutUint32(m[8:], actStolen)
					binary.NativeEndian.PutUint32(m[20:], egressRedirect)
					binary.NativeEndian.PutUint32(m[24:], uint32(to))
					p.b.Attr(tcaMirredParms, m[:])
				})
			})
		})
	})
}
