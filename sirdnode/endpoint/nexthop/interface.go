//go:build linux

// Package nexthop asks this machine's kernel how IPv4 packets get to an address: over
// which interface, at what rate, and to which MAC address.
package nexthop

import (
	"fmt"
	"net"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// An Interface is an Ethernet interface of the calling thread's network namespace that is
// up.
type Interface struct {
	Name  string
	Index int
	MAC   topo.MAC
	MTU   units.Bytes
	Rate  units.BitsPerSecond // of the link, as the driver says; 0: it does not know
	Addr  netip.Addr          // its first IPv4 address
	All   []netip.Addr        // all of its IPv4 addresses
}

// ByName returns an interface that frames can be sent on.
func ByName(name string) (Interface, error) {
	link, err := net.InterfaceByName(name)
	if err != nil {
		return Interface{}, fmt.Errorf("interface %s: %w", name, unwrapped(err))
	}
	return usable(link)
}

// ByIndex is ByName by the interface's index.
func ByIndex(index int) (Interface, error) {
	link, err := net.InterfaceByIndex(index)
	if err != nil {
		return Interface{}, fmt.Errorf("interface %d: %w", index, unwrapped(err))
	}
	return usable(link)
}

// unwrapped is an error of package net without the operation's name.
func unwrapped(err error) error {
	if op, ok := err.(*net.OpError); ok {
		return op.Err
	}
	return err
}

// Cable returns an interface that frames can be sent on by whoever knows its other end: it
// needs no address.
func Cable(name string) (Interface, error) {
	link, err := net.InterfaceByName(name)
	if err != nil {
		return Interface{}, fmt.Errorf("interface %s: %w", name, unwrapped(err))
	}
	i, err := ethernet(link)
	if err != nil {
		return i, err
	}
	i.Rate = rateOf(name)
	return i, nil
}

// ethernet checks an interface, but for whether anything is at its other end.
func ethernet(link *net.Interface) (Interface, error) {
	i := Interface{Name: link.Name, Index: link.Index, MTU: units.Bytes(link.MTU)}
	switch {
	case link.Flags&net.FlagUp == 0:
		return i, fmt.Errorf("interface %s is down: ip link set %s up", i.Name, i.Name)
	case link.Flags&net.FlagLoopback != 0:
		return i, fmt.Errorf("interface %s is the loopback: peers are on other machines, or in other network "+
			"namespaces", i.Name)
	case len(link.HardwareAddr) != len(i.MAC):
		return i, fmt.Errorf("interface %s is no Ethernet", i.Name)
	}
	copy(i.MAC[:], link.HardwareAddr)
	return i, nil
}

func usable(link *net.Interface) (Interface, error) {
	i, err := ethernet(link)
	if err == nil && link.Flags&net.FlagRunning == 0 {
		err = fmt.Errorf("interface %s has no link: the other end of its cable is down, or out", i.Name)
	}
	if err != nil {
		return i, err
	}
	list, err := link.Addrs()
	if err != nil {
		return i, fmt.Errorf("addresses of interface %s: %w", i.Name, unwrapped(err))
	}
	for _, a := range list {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Unmap().Is4() {
			i.All = append(i.All, prefix.Addr().Unmap())
		}
	}
	if len(i.All) == 0 {
		return i, fmt.Errorf("interface %s has no IPv4 address: ip address add ADDRESS/BITS dev %s", i.Name, i.Name)
	}
	i.Addr, i.Rate = i.All[0], rateOf(i.Name)
	return i, nil
}

// Usable lists the interfaces that frames can be sent on.
func Usable() (list []Interface, err error) {
	links, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", unwrapped(err))
	}
	for i := range links {
		if found, err := usable(&links[i]); err == nil {
			list = append(list, found)
		}
	}
	return list, nil
}

// ethtoolGset and ethtoolCmd are ETHTOOL_GSET and struct ethtool_cmd
// (include/uapi/linux/ethtool.h), which drivers of any age answer.
const ethtoolGset = 1

type ethtoolCmd struct {
	cmd, supported, advertising uint32
	speed                       uint16
	_                           [6]byte
	_                           [2]uint32
	speedHigh                   uint16
	_                           [2]byte
	_                           [3]uint32
}

// rateOf returns the rate of an interface's link, 0 where its driver does not know.
func rateOf(name string) units.BitsPerSecond {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	c := ethtoolCmd{cmd: ethtoolGset}
	var ifr struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte // the rest of the kernel's union
	}
	copy(ifr.name[:unix.IFNAMSIZ-1], name)
	ifr.data = unsafe.Pointer(&c)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL,
		uintptr(unsafe.Pointer(&ifr))); errno != 0 {
		return 0
	}
	mbps := uint32(c.speedHigh)<<16 | uint32(c.speed)
	// SPEED_UNKNOWN is -1; of old drivers, of 16 bits.
	if mbps == 1<<32-1 || mbps == 1<<16-1 {
		return 0
	}
	return units.BitsPerSecond(mbps) * units.Mbps
}
