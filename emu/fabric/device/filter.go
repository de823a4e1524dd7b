//go:build linux

package device

import (
	"encoding/binary"
	"slices"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
)

// Attributes and flags of cls_bpf (include/uapi/linux/pkt_cls.h).
const (
	tcaBPFFD    = 6
	tcaBPFName  = 7
	tcaBPFFlags = 8

	bpfDirectAction = 1
)

// filterPreference is before that of others' filters, which begin at 1 too or far behind.
const filterPreference = 1

// addFilter has a filter run a program, where there is no TCX.
func addFilter(c *rtnl.Conn, at *Link, p *ebpf.Program, in bool) error {
	parent := uint32(clsactEgress)
	if in {
		parent = clsactIngress
	}
	var b rtnl.Batch
	b.Request("add qdisc clsact", at.Name, unix.RTM_NEWQDISC, unix.NLM_F_CREATE,
		rtnl.Traffic(at.Index, clsactHandle, parentClsact, 0))
	b.String(unix.TCA_KIND, "clsact")
	all := uint32(networkOrder(unix.ETH_P_ALL))
	b.Request("add filter bpf", at.Name, unix.RTM_NEWTFILTER, unix.NLM_F_CREATE|unix.NLM_F_EXCL,
		rtnl.Traffic(at.Index, 1, parent, filterPreference<<16|all))
	b.String(unix.TCA_KIND, "bpf")
	b.Nest(unix.TCA_OPTIONS, nil, func() {
		b.Uint32(tcaBPFFD, uint32(p.FD()))
		b.String(tcaBPFName, programName)
		b.Uint32(tcaBPFFlags, bpfDirectAction)
	})
	return c.Do(&b)
}

// isOurs reports whether a filter is one that addFilter has added.
func (i Item) isOurs() bool {
	options := rtnl.Find(i.Body[sizeofTcMsg:], unix.TCA_OPTIONS)
	return i.Type == unix.RTM_NEWTFILTER && text(rtnl.Find(options, tcaBPFName)) == programName
}

// removeFilters removes the filters that addFilter has added, and clsact if there was
// none before.
func removeFilters(c *rtnl.Conn, now, before *Snapshot) error {
	var b rtnl.Batch
	others := false
	for _, f := range now.Filters {
		if !f.isOurs() {
			others = others || binary.NativeEndian.Uint32(f.Body[8:]) != 0 // a chain without filter
			continue
		}
		b.Request("remove filter bpf", now.Name, unix.RTM_DELTFILTER, 0, f.Body[:sizeofTcMsg])
		b.String(unix.TCA_KIND, "bpf")
	}
	if b.Len() > 0 && !others && !slices.ContainsFunc(before.Qdiscs, Item.isClsact) {
		b.Request("remove qdisc clsact", now.Name, unix.RTM_DELQDISC, 0,
			rtnl.Traffic(now.Index, clsactHandle, parentClsact, 0))
		b.String(unix.TCA_KIND, "clsact")
	}
	return c.Do(&b)
}
