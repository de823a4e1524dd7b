//go:build linux

package device

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
)

// An Item is an address, route, neighbor, qdisc or filter: the message by which the
// kernel lists it, which makes it anew if it is sent back.
type Item struct {
	Type uint16 `json:"type"` // RTM_NEWADDR, ...
	Body []byte `json:"body"`
}

// sizeofTcMsg is the size of a struct tcmsg.
const sizeofTcMsg = 20

// Handles of clsact (include/uapi/linux/pkt_sched.h).
const (
	parentClsact  = 0xfffffff1
	clsactHandle  = 0xffff0000
	clsactIngress = 0xfffffff2
	clsactEgress  = 0xfffffff3
)

// A kind is a kind of item: how it is listed, and which belong to an interface.
type kind struct {
	name     string
	get      uint16
	families []byte // 0 where there are none
	fixed    int    // bytes of the message's fixed part
	of       func(body []byte, index int) bool
}

var (
	addresses = kind{"list addresses", unix.RTM_GETADDR, []byte{unix.AF_INET, unix.AF_INET6}, unix.SizeofIfAddrmsg,
		func(body []byte, index int) bool { return binary.NativeEndian.Uint32(body[4:]) == uint32(index) }}
	routes = kind{"list routes", unix.RTM_GETROUTE, []byte{unix.AF_INET, unix.AF_INET6}, unix.SizeofRtMsg, isOver}

	neighbors = kind{"list neighbors", unix.RTM_GETNEIGH, []byte{unix.AF_INET, unix.AF_INET6}, unix.SizeofNdMsg,
		func(body []byte, index int) bool {
			return binary.NativeEndian.Uint32(body[4:]) == uint32(index) &&
				binary.NativeEndian.Uint16(body[8:])&unix.NUD_PERMANENT != 0
		}}
	qdiscs = kind{"list qdiscs", unix.RTM_GETQDISC, []byte{0}, sizeofTcMsg,
		func(body []byte, index int) bool { return binary.NativeEndian.Uint32(body[4:]) == uint32(index) }}
)

// list returns the items of an interface. A kernel without a family has none of it.
func (k kind) list(c *rtnl.Conn, index int) (list []Item, err error) {
	for _, family := range k.families {
		request := make([]byte, k.fixed)
		request[0] = family
		err := c.Dump(k.name, k.get, request, func(typ uint16, body []byte) error {
			// Without a family the kernel lists others'.
			if typ == k.get-2 && len(body) >= k.fixed && (family == 0 || body[0] == family) && k.of(body, index) {
				list = append(list, Item{typ, slices.Clone(body)})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// cached is the flag of what is learnt, not configured (RTM_F_CLONED).
const cached = 0x200

// isOver reports whether a route leads over an interface, alone or with others.
func isOver(body []byte, index int) bool {
	attrs := body[unix.SizeofRtMsg:]
	if binary.NativeEndian.Uint32(body[8:])&cached != 0 {
		return false
	}
	if out := rtnl.Find(attrs, unix.RTA_OIF); len(out) == 4 {
		return binary.NativeEndian.Uint32(out) == uint32(index)
	}
	for hops := rtnl.Find(attrs, unix.RTA_MULTIPATH); len(hops) >= unix.SizeofRtNexthop; {
		n := int(binary.NativeEndian.Uint16(hops))
		if n < unix.SizeofRtNexthop || n > len(hops) {
			break
		}
		if binary.NativeEndian.Uint32(hops[4:]) == uint32(index) {
			return true
		}
		hops = hops[min((n+3)&^3, len(hops)):]
	}
	return false
}

// volatile are the attributes that change by themselves: statistics and ages.
var volatile = map[uint16][]uint16{
	unix.RTM_NEWADDR:    {unix.IFA_CACHEINFO},
	unix.RTM_NEWROUTE:   {unix.RTA_CACHEINFO},
	unix.RTM_NEWNEIGH:   {unix.NDA_CACHEINFO, unix.NDA_PROBES},
	unix.RTM_NEWQDISC:   {unix.TCA_STATS, unix.TCA_STATS2, unix.TCA_XSTATS},
	unix.RTM_NEWTFILTER: {unix.TCA_STATS, unix.TCA_STATS2, unix.TCA_XSTATS},
}

// fixedParts are the sizes of messages' fixed parts, and the bytes in them that change
// by themselves.
var fixedParts = map[uint16]struct{ size, from, to int }{
	unix.RTM_NEWADDR:    {unix.SizeofIfAddrmsg, 2, 3}, // flags: tentative
	unix.RTM_NEWROUTE:   {unix.SizeofRtMsg, 8, 12},    // flags: of a link that is down
	unix.RTM_NEWNEIGH:   {unix.SizeofNdMsg, 0, 0},
	unix.RTM_NEWQDISC:   {sizeofTcMsg, 16, 20}, // references
	unix.RTM_NEWTFILTER: {sizeofTcMsg, 0, 0},
}

// tentative are flags of an IPv6 address that go by themselves.
const tentative = unix.IFA_F_TENTATIVE | unix.IFA_F_DADFAILED | unix.IFA_F_OPTIMISTIC

// key is the same for items that are the same, whenever they were listed.
func (i Item) key() string {
	part := fixedParts[i.Type]
	if part.size == 0 || len(i.Body) < part.size {
		return fmt.Sprintf("%d:%x", i.Type, i.Body)
	}
	head := slices.Clone(i.Body[:part.size])
	clear(head[part.from:part.to])
	var attrs [][]byte
	for rest := i.Body[part.size:]; len(rest) >= unix.SizeofRtAttr; {
		n := int(binary.NativeEndian.Uint16(rest))
		if n < unix.SizeofRtAttr || n > len(rest) {
			break
		}
		a := slices.Clone(rest[:n])
		typ := binary.NativeEndian.Uint16(a[2:])
		if i.Type == unix.RTM_NEWADDR && typ == unix.IFA_FLAGS && n == 8 {
			binary.NativeEndian.PutUint32(a[4:], binary.NativeEndian.Uint32(a[4:])&^tentative)
		}
		if !slices.Contains(volatile[i.Type], typ) {
			attrs = append(attrs, a)
		}
		rest = rest[min((n+3)&^3, len(rest)):]
	}
	slices.SortFunc(attrs, bytes.Compare)
	return fmt.Sprintf("%d:%x:%x", i.Type, head, attrs)
}

// again is the request that makes the item anew.
func (i Item) again(b *rtnl.Batch, device string) {
	b.Request("restore what was configured", device, i.Type, unix.NLM_F_CREATE|unix.NLM_F_EXCL, i.Body)
}
