//go:build linux

package port

import (
	"encoding/binary"
	"math"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric/rtnl"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
)

// Handles of the tree. The major number of a leaf queue's handle shows what is in
// it.
const (
	parentRoot   = 0xffffffff // TC_H_ROOT
	parentClsact = 0xfffffff1 // TC_H_CLSACT

	rootHandle  = 1 << 16
	prioHandle  = 2 << 16
	markHandle  = 3 << 16
	linkClass   = rootHandle | 0x1
	prioClass   = rootHandle | 0x2
	levelClass  = rootHandle | 0x10 // + level
	creditClass = rootHandle | 0x20

	levelQueue  = 0x10 << 16 // + level << 16
	creditQueue = 0x20 << 16
)

// Attributes of HTB (include/uapi/linux/pkt_sched.h).
const (
	tcaHTBParms  = 1
	tcaHTBInit   = 2
	tcaHTBRate64 = 6
	tcaHTBCeil64 = 7

	linkLayerEthernet = 1 // TC_LINKLAYER_ETHERNET: the kernel wants no rate table
	htbVersion        = 3
)

// creditBurst is the credit class's burst in wire bytes, less a packet: HTB lets a
// packet go as long as the class owes nothing, so that the last one needs no
// tokens.
const creditBurst = (transport.CreditBurst - 1) * wireMinimum

// tickNanoseconds is the unit of HTB's buffers (PSCHED_SHIFT of
// include/net/pkt_sched.h).
const tickNanoseconds = 64

// Install adds the requests that build the port at an interface, which should
// be down: a qdisc grafted onto an interface that is up costs an RCU grace
// period. The error is about c alone; what the kernel says of the requests,
// Explain makes readable.
func (c Config) Install(b *rtnl.Batch, index int, device string) error {
	c, err := c.defaulted()
	if err != nil {
		return err
	}
	p := tree{b: b, index: index, device: device}
	if c.Levels == emu.PrioBands {
		p.root(prioClass)
	} else {
		p.root(levelClass | uint32(c.Priorities-1))
	}
	p.classes(&c)
	served := uint32(levelClass) // what all levels are in, or the one
	if c.Levels == emu.PrioBands {
		served = prioClass
	}
	if c.red() {
		p.red(markHandle, served, uint32(c.Mark))
		served = markHandle | 1
	}
	if c.Levels == emu.PrioBands {
		p.prio(served, c.Priorities)
	}
	for level := range c.Priorities {
		parent := served
		if c.Priorities > 1 {
			_, parent = c.server(level)
		}
		p.fifo(levelQueue+uint32(level)<<16, parent, "bfifo", uint32(c.Limit))
	}
	if c.Credit.Share > 0 {
		p.fifo(creditQueue, creditClass, "pfifo", uint32(c.Credit.Packets))
	}
	p.filters(&c)
	return nil
}

// ChangeRate adds the requests that give an installed port the rate of c, which is
// otherwise what it was installed with. What waits stays.
func (c Config) ChangeRate(b *rtnl.Batch, index int, device string) error {
	c, err := c.defaulted()
	if err != nil {
		return err
	}
	p := tree{b: b, index: index, device: device, change: true}
	p.classes(&c)
	return nil
}

// classes adds the classes, which have the rates.
func (p tree) classes(c *Config) {
	link := htbClass{rate: c.bytesPerSecond(), ceil: c.bytesPerSecond(), burst: uint64(c.Burst),
		quantum: uint32(c.MTU + wire.EthernetLen)}
	levels, parent := link, uint32(rootHandle)
	if c.shared() {
		levels.rate, parent = tinyRate, linkClass
		p.class(linkClass, rootHandle, link)
	}
	if c.Levels == emu.PrioBands {
		p.class(prioClass, parent, levels)
	} else {
		for level := range c.Priorities {
			levels.prio = uint32(c.Priorities - 1 - level)
			p.class(levelClass|uint32(level), parent, levels)
		}
	}
	if c.Credit.Share > 0 {
		rate := max(1, uint64(math.Round(c.Credit.Share*float64(c.bytesPerSecond()))))
		p.class(creditClass, linkClass, htbClass{rate: rate, ceil: rate, burst: uint64(creditBurst),
			quantum: link.quantum})
	}
}

// tree is where requests for one interface go: that add, or that change what is there.
type tree struct {
	b      *rtnl.Batch
	index  int
	device string
	change bool
}

// request begins a request about a qdisc or a class.
func (p tree) request(what string, typ uint16, handle, parent uint32) {
	op, flags := "add ", uint16(unix.NLM_F_CREATE|unix.NLM_F_EXCL)
	if p.change {
		op, flags = "change ", 0
	}
	p.b.Request(op+what, p.device, typ, flags, rtnl.Traffic(p.index, handle, parent, 0))
}

func (p tree) qdisc(kind string, handle, parent uint32) {
	p.request("qdisc "+kind, unix.RTM_NEWQDISC, handle, parent)
	p.b.String(unix.TCA_KIND, kind)
}

// root adds the HTB qdisc. Packets that no filter claims go to the default
// class: with precedences these are those above the last level, and what is not
// IPv4.
func (p tree) root(defaultClass uint32) {
	p.qdisc("htb", rootHandle, parentRoot)
	p.b.Nest(unix.TCA_OPTIONS, nil, func() {
		var glob [20]byte // struct tc_htb_glob
		binary.NativeEndian.PutUint32(glob[0:], htbVersion)
		binary.NativeEndian.PutUint32(glob[4:], 10) // rate2quantum, unused: classes have their own
		binary.NativeEndian.PutUint32(glob[8:], defaultClass&0xffff)
		p.b.Attr(tcaHTBInit, glob[:])
	})
}

// prio adds the qdisc that serves levels. Packets that no filter claims go to its
// first band, the most urgent.
func (p tree) prio(parent uint32, levels int) {
	p.qdisc("prio", prioHandle, parent)
	var opt [20]byte // struct tc_prio_qopt: bands, and the band of each skb->priority
	binary.NativeEndian.PutUint32(opt[0:], uint32(levels))
	p.b.Attr(unix.TCA_OPTIONS, opt[:])
}

// server returns the qdisc that serves a level, and the level's class of it: prio
// counts from the most urgent.
func (c *Config) server(level int) (qdisc, class uint32) {
	if c.Levels == emu.PrioBands {
		return prioHandle, prioHandle | uint32(c.Priorities-level)
	}
	return rootHandle, levelClass | uint32(level)
}

// htbClass is an HTB class; rates are in bytes a second, burst in bytes.
type htbClass struct {
	rate, ceil    uint64
	burst         uint64
	quantum, prio uint32
}

func (p tree) class(handle, parent uint32, k htbClass) {
	p.request("class htb", unix.RTM_NEWTCLASS, handle, parent)
	p.b.String(unix.TCA_KIND, "htb")
	p.b.Nest(unix.TCA_OPTIONS, nil, func() {
		var opt [44]byte // struct tc_htb_opt
		rateSpec(opt[0:], k.rate)
		rateSpec(opt[12:], k.ceil)
		// A tiny rate's buffer is one tick: it is to earn nothing.
		buffer := uint32(1)
		if k.rate != tinyRate {
			buffer = ticks(k.burst, k.rate)
		}
		binary.NativeEndian.PutUint32(opt[24:], buffer)
		binary.NativeEndian.PutUint32(opt[28:], ticks(k.burst, k.ceil))
		binary.NativeEndian.PutUint32(opt[32:], k.quantum)
		binary.NativeEndian.PutUint32(opt[40:], k.prio)
		p.b.Attr(tcaHTBParms, opt[:])
		if k.rate > math.MaxUint32 {
			p.b.Uint64(tcaHTBRate64, k.rate)
		}
		if k.ceil > math.MaxUint32 {
			p.b.Uint64(tcaHTBCeil64, k.ceil)
		}
	})
}

// rateSpec writes a struct tc_ratespec. The kernel adds the overhead and then
// raises to mpu (psched_l2t_ns), in this order.
func rateSpec(b []byte, rate uint64) {
	b[1] = linkLayerEthernet
	binary.NativeEndian.PutUint16(b[2:], uint16(wireOverhead))
	binary.NativeEndian.PutUint16(b[6:], uint16(wireMinimum))
	binary.NativeEndian.PutUint32(b[8:], uint32(min(rate, math.MaxUint32)))
}

// ticks is how long a burst lasts at a rate, rounded up, at least one.
func ticks(burst, rate uint64) uint32 {
	t := math.Ceil(float64(burst) * 1e9 / float64(rate) / tickNanoseconds)
	return uint32(min(max(t, 1), math.MaxUint32))
}
