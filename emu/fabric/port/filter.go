//go:build linux

package port

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
	"sirdbed/sirdnode/wire"
)

// Attributes and flags of cls_u32 (include/uapi/linux/pkt_cls.h).
const (
	tcaU32ClassID = 1
	tcaU32Sel     = 5
	tcaU32Act     = 7

	u32Terminal = 1
)

// filterPreference is the preference of all filters: one instance of cls_u32,
// which tries its keys in the order of their arrival.
const filterPreference = 1

// filters sends credits and the precedences below the last level to their
// classes. Crossing a namespace clears skb->priority, so every port classifies
// anew.
func (p tree) filters(c *Config) {
	if c.Credit.Share > 0 {
		p.filter(rootHandle, creditClass, wire.CreditTOS, wire.CreditTOS)
	}
	for level := 0; level < c.Priorities-1; level++ {
		qdisc, class := c.server(level)
		p.filter(qdisc, class, uint8(level)<<5, 0xe0)
	}
}

// filter has a qdisc send packets whose TOS octet matches value under mask to one
// of its classes.
func (p tree) filter(qdisc, class uint32, value, mask uint8) {
	p.b.Request("add filter u32", p.device, unix.RTM_NEWTFILTER, unix.NLM_F_CREATE|unix.NLM_F_EXCL,
		rtnl.Traffic(p.index, 0, qdisc, filterInfo(unix.ETH_P_IP)))
	p.b.String(unix.TCA_KIND, "u32")
	p.b.Nest(unix.TCA_OPTIONS, nil, func() {
		p.b.Uint32(tcaU32ClassID, class)
		// The octet is the second of the IP header's first word.
		p.b.Attr(tcaU32Sel, u32Selector(uint32(value)<<16, uint32(mask)<<16))
	})
}

// u32Selector is a struct tc_u32_sel with one key on the first word behind the
// link header.
func u32Selector(value, mask uint32) []byte {
	b := make([]byte, 32)
	b[0], b[2] = u32Terminal, 1
	binary.BigEndian.PutUint32(b[16:], mask)
	binary.BigEndian.PutUint32(b[20:], value&mask)
	return b
}

// filterInfo is tcm_info of a filter: its preference, and the protocol in
// network byte order.
func filterInfo(protocol uint16) uint32 {
	var be [2]byte
	binary.BigEndian.PutUint16(be[:], protocol)
	return filterPreference<<16 | uint32(binary.NativeEndian.Uint16(be[:]))
}

// Handles of clsact (include/uapi/linux/pkt_sched.h): filters before the network
// stack and, on the way out, before the qdisc.
const (
	clsactHandle  = 0xffff0000
	clsactIngress = 0xfffffff2
	clsactEgress  = 0xfffffff3
)

// clsact makes an interface able to have such filters, if it is not yet.
func (p tree) clsact() {
	p.b.Request("add qdisc clsact", p.device, unix.RTM_NEWQDISC, unix.NLM_F_CREATE,
		rtnl.Traffic(p.index, clsactHandle, parentClsact, 0))
	p.b.String(unix.TCA_KIND, "clsact")
}
