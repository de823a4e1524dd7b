//go:build linux

package device

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
	"sirdbed/topo"
)

// A Link is an interface as the kernel lists it.
type Link struct {
	Name   string   `json:"name"`
	Index  int      `json:"index"`
	Kind   string   `json:"kind,omitempty"` // "veth", "tun", ...; "" of hardware
	Type   uint16   `json:"type"`           // ARPHRD_ETHER, ...
	MAC    topo.MAC `json:"mac"`
	MTU    uint32   `json:"mtu"`
	MinMTU uint32   `json:"min_mtu"`
	MaxMTU uint32   `json:"max_mtu"`         // 0: no limit
	Flags  uint32   `json:"flags"`           // IFF_UP and its like, without what the cable decides
	Promis uint32   `json:"promiscuity"`     // how many want all frames
	Master int      `json:"master"`          // index of its bridge or bond, 0: none
	Qdisc  string   `json:"qdisc"`           // "noop" until it is brought up for the first time
	XDP    bool     `json:"xdp,omitempty"`   // a program sees its frames first
	Links  int      `json:"links,omitempty"` // index of a veth's other end, of a VLAN's device
}

// Up reports whether the interface has been brought up; its cable may still be out.
func (l *Link) Up() bool { return l.Flags&unix.IFF_UP != 0 }

// changing are the flags that come and go with the cable.
const changing = unix.IFF_RUNNING | unix.IFF_LOWER_UP | unix.IFF_DORMANT | unix.IFF_ECHO

// ErrGone matches the error of an interface that is not there.
var ErrGone = errors.New("no such interface")

// Links lists the interfaces of a namespace.
func Links(c *rtnl.Conn) (list []Link, err error) {
	err = c.Dump("list interfaces", unix.RTM_GETLINK, make([]byte, unix.SizeofIfInfomsg),
		func(typ uint16, body []byte) error {
			if typ == unix.RTM_NEWLINK && len(body) >= unix.SizeofIfInfomsg {
				list = append(list, parseLink(body))
			}
			return nil
		})
	return list, err
}

// find returns the interface for which is holds.
func find(c *rtnl.Conn, is func(*Link) bool) (Link, error) {
	list, err := Links(c)
	if err != nil {
		return Link{}, err
	}
	for i := range list {
		if is(&list[i]) {
			return list[i], nil
		}
	}
	return Link{}, ErrGone
}

func named(c *rtnl.Conn, name string) (Link, error) {
	l, err := find(c, func(l *Link) bool { return l.Name == name })
	if err != nil {
		return l, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}

// xdpNone is XDP_ATTACHED_NONE (include/uapi/linux/if_link.h).
const xdpNone = 0

func parseLink(body []byte) Link {
	attrs := body[unix.SizeofIfInfomsg:]
	number := func(typ uint16) uint32 {
		if b := rtnl.Find(attrs, typ); len(b) == 4 {
			return binary.NativeEndian.Uint32(b)
		}
		return 0
	}
	l := Link{
		Type:   binary.NativeEndian.Uint16(body[2:]),
		Index:  int(int32(binary.NativeEndian.Uint32(body[4:]))),
		Flags:  binary.NativeEndian.Uint32(body[8:]) &^ changing,
		Name:   text(rtnl.Find(attrs, unix.IFLA_IFNAME)),
		Kind:   text(rtnl.Find(rtnl.Find(attrs, unix.IFLA_LINKINFO), unix.IFLA_INFO_KIND)),
		Qdisc:  text(rtnl.Find(attrs, unix.IFLA_QDISC)),
		MTU:    number(unix.IFLA_MTU),
		MinMTU: number(unix.IFLA_MIN_MTU),
		MaxMTU: number(unix.IFLA_MAX_MTU),
		Promis: number(unix.IFLA_PROMISCUITY),
		Master: int(number(unix.IFLA_MASTER)),
		Links:  int(number(unix.IFLA_LINK)),
	}
	copy(l.MAC[:], rtnl.Find(attrs, unix.IFLA_ADDRESS))
	xdp := rtnl.Find(rtnl.Find(attrs, unix.IFLA_XDP), unix.IFLA_XDP_ATTACHED)
	l.XDP = len(xdp) == 1 && xdp[0] != xdpNone
	return l
}

func text(b []byte) string { return strings.TrimRight(string(b), "\x00") }

// Namespace names the calling thread's network namespace, as others see it too.
func Namespace() (string, error) {
	name, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		return "", fmt.Errorf("the thread's network namespace: %w", err)
	}
	return name, nil
}

// cookie tells the calling thread's network namespace from all others since the machine
// was started: names of those that are gone are used again. 0 where the kernel has none
// (before Linux 5.14).
func cookie() uint64 {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	n, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
	if err != nil {
		return 0
	}
	return n
}

// boot names the time since the machine was started. What was changed before is gone.
func boot() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("the machine's boot ID: %w", err)
	}
	return strings.TrimSpace(string(id)), nil
}
