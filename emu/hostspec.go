package emu

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sirdbed/topo"
	"sirdbed/topo/limit"
)

// A HostSpec is what is special about one host of a fabric.
type HostSpec struct {
	// The host, such as h1-2.
	Name string `yaml:"name" json:"name"`
	// An interface of this machine that becomes the host's port on its leaf, such as enp3s0f1: hardware at the other
	// end of its cable takes part. Engine real alone, as root, at dilation 1.
	Device string `yaml:"device" json:"device"`
	// MAC address of the interface at the other end. Without it the leaf asks for it (ARP), and the other end has to
	// answer.
	PeerMAC string `yaml:"peer_mac,omitempty" json:"peer_mac,omitempty"`
	// The peer joins the run: at the other end of the cable sirdbed node join runs the host, which then sends, answers
	// and is judged like any other. Without it the host is opaque, and nothing is asked of it.
	Join bool `yaml:"join,omitempty" json:"join,omitempty"`
	// Take the interface although the machine uses it: what has an address, a route or another program on it stands
	// still until the run has ended.
	Force bool `yaml:"force,omitempty" json:"force,omitempty"`
}

// Device returns what is special about a host that is a device.
func (e *Experiment) Device(host string) (HostSpec, bool) {
	i := slices.IndexFunc(e.Hosts, func(h HostSpec) bool { return h.Name == host })
	if i < 0 {
		return HostSpec{}, false
	}
	return e.Hosts[i], true
}

// Opaque reports whether a host is a device whose peer does not join: no process of the run
// is on it, its messages are known by their other ends.
func (e *Experiment) Opaque(host string) bool {
	h, device := e.Device(host)
	return device && !h.Join
}

// AnyOpaque reports whether a host is.
func (e *Experiment) AnyOpaque() bool {
	return slices.ContainsFunc(e.Hosts, func(h HostSpec) bool { return !h.Join })
}

// Joining lists the hosts whose peers join.
func (e *Experiment) Joining() (names []string) {
	for _, h := range e.Hosts {
		if h.Join {
			names = append(names, h.Name)
		}
	}
	return names
}

// NoDevices is the error of an engine that cannot take interfaces of the machine, nil
// for an experiment that asks for none.
func NoDevices(x *Experiment, engine EngineName) error {
	if len(x.Hosts) == 0 {
		return nil
	}
	h := x.Hosts[0]
	return fmt.Errorf("host %s is the device %s of this machine, which the engine %s cannot reach: use --engine %s, "+
		"as root, or leave out hosts", h.Name, h.Device, engine, Real)
}

// ValidateHosts reports the first impossible field of the hosts of a fabric as a
// *topo.SpecError, "hosts[1].name".
func ValidateHosts(f *topo.Fabric, hosts []HostSpec) error {
	bad := func(i int, field, format string, args ...any) error {
		return &topo.SpecError{Field: fmt.Sprintf("hosts[%d].%s", i, field), Reason: fmt.Sprintf(format, args...)}
	}
	for i, h := range hosts {
		if e, ok := errors.AsType[*limit.Error](limit.Host.Check(h)); ok {
			return bad(i, e.Field, "%s", e.Reason)
		}
		if _, ok := f.Host(h.Name); !ok {
			return bad(i, "name", "no host is called %q: hosts are %s to %s", h.Name, f.HostName(0),
				f.HostName(f.Hosts[len(f.Hosts)-1]))
		}
		if strings.ContainsAny(h.Device, "/ \t") || h.Device == "." || h.Device == ".." {
			return bad(i, "device", "%q cannot be an interface: want a name that ip link or sirdbed devices shows",
				h.Device)
		}
		if mac, err := topo.ParseMAC(h.PeerMAC); h.PeerMAC != "" && (err != nil || mac[0]&1 != 0) {
			return bad(i, "peer_mac", "%q: want the MAC address of one interface, such as 52:54:00:12:34:56",
				h.PeerMAC)
		}
		if h.PeerMAC != "" && h.Join {
			return bad(i, "peer_mac", "%s joins, and says itself what its address is: leave it out", h.Name)
		}
		for _, other := range hosts[:i] {
			switch {
			case other.Name == h.Name:
				return bad(i, "name", "%s is there twice", h.Name)
			case other.Device == h.Device:
				return bad(i, "device", "%s is %s already: a device is one host", h.Device, other.Name)
			}
		}
	}
	if len(hosts) == len(f.Hosts) && len(hosts) > 0 {
		return bad(0, "name", "all %d hosts are devices: want at least one that sirdbed runs", len(hosts))
	}
	return nil
}
