//go:build linux

// Package endpoint is one end of a transport on an interface of any Linux machine: the
// hosts' own code, without a fabric around it. Peers are named by IPv4 address, routes and
// neighbors are the kernel's, and the clock is the machine's.
//
// Serve takes messages from whoever connects, and answers those that ask for it; Send
// connects to such ends and sends a Load to them. Package session has what they agree on.
// Each end sees the network as a fabric of one leaf: the links between hosts and leaf have
// the rate of its link, and the delay that makes the credit loop as long as it was measured
// to be.
package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/baselines/all"
	"sirdbed/baselines/dcpim"
	"sirdbed/emu/fabric/rtnl"
	"sirdbed/sirdnode/endpoint/nexthop"
	"sirdbed/sirdnode/host"
	"sirdbed/sirdnode/node"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// Config is what both kinds of end have in common.
type Config struct {
	Protocol  transport.Protocol
	Params    json.RawMessage // of the protocol, that were given; nil: none
	Interface string          // "": see Send and Serve
	// Rate is of this machine's link, 0: what the driver says, or DefaultRate.
	Rate units.BitsPerSecond
	// MTU is of the transport's packets, 0: the interface's. The serving end decides.
	MTU   units.Bytes
	Build string // both ends have the same

	// Opened, if it is not nil, is told of the interface before packets are exchanged.
	Opened func(i nexthop.Interface, rateKnown bool)
	// Each, if it is not nil, is called each second. It must not block.
	Each func(Second)
}

// DefaultRate is the link's where nobody knows.
const DefaultRate = units.Gbps

// catchUp is how much of a late wake-up is made good: what the NIC then gets at once it
// sends at its link's rate.
const catchUp = units.Millisecond

// Suits reports whether a protocol can be run without a fabric.
func Suits(p *transport.Protocol) error {
	switch {
	case p.New == nil:
		return fmt.Errorf("%s is the kernel's own: any program speaks it. Here are those that are not", p.Name)
	case p.Name == dcpim.Protocol.Name:
		return fmt.Errorf("%s takes hosts whose clocks agree, since it matches them in rounds: those of a fabric do",
			p.Name)
	}
	return nil
}

// check reports whether the protocol can be run, and whether this process may.
func (c *Config) check() error {
	if err := Suits(&c.Protocol); err != nil {
		return err
	}
	f, err := topo.New(spec(2, DefaultRate, 0, 0))
	if err != nil {
		return err
	}
	if _, err := c.decode(f, c.Params); err != nil {
		return err
	}
	return mayOpenRaw()
}

// mayOpenRaw reports whether this process may open raw sockets.
func mayOpenRaw() error {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.EPERM):
		return ErrNoRights
	case err != nil:
		return fmt.Errorf("open a packet socket: %w", err)
	}
	return unix.Close(fd)
}

// ErrNoRights is the error of a process that may not open raw sockets.
var ErrNoRights = errors.New("raw sockets take the capability CAP_NET_RAW")

// rate is that of a link, and whether it was given or found.
func (c *Config) rate(i *nexthop.Interface) (rate units.BitsPerSecond, known bool) {
	switch {
	case c.Rate > 0:
		return c.Rate, true
	case i.Rate > 0:
		return min(max(i.Rate, limit.MinRate), limit.MaxRate), true
	}
	return DefaultRate, false
}

// mtu is that of the transport's packets over an interface.
func (c *Config) mtu(i *nexthop.Interface) (units.Bytes, error) {
	mtu := c.MTU
	if mtu == 0 {
		mtu = min(i.MTU, limit.MaxMTU)
	}
	if mtu > i.MTU {
		return 0, fmt.Errorf("packets of %d B do not fit interface %s, whose MTU is %d", mtu, i.Name, i.MTU)
	}
	return mtu, nil
}

// open tells who asked of the interface.
func (c *Config) opened(i *nexthop.Interface) {
	if c.Opened != nil {
		_, known := c.rate(i)
		c.Opened(*i, known)
	}
}

// spec is the network as an endpoint sees it, of that many hosts.
func spec(hosts int, rate units.BitsPerSecond, delay units.Time, mtu units.Bytes) topo.Spec {
	return topo.Spec{Leaves: 1, HostsPerLeaf: hosts, HostRate: rate, HostDelay: delay, MTU: mtu}
}

// delayOf is the delay of each link with which a credit loop takes as long as measured.
func delayOf(l topo.Loop, rate units.BitsPerSecond, mtu units.Bytes) (units.Time, error) {
	f, err := topo.New(spec(2, rate, 0, mtu))
	if err != nil {
		return 0, err
	}
	const links = 4 // two there, two back
	return min(max(0, l.Usual-f.LongestLoop())/links, units.Second), nil
}

// loopTimes are how credit loops are measured: as often as full packets fill the link, or a
// machine carries packets, for a time.
const (
	loopEvery = 25 * time.Microsecond
	loopSpan  = 200 * time.Millisecond
)

// measure measures credit loops with a peer.
func (c *Config) measure(i *nexthop.Interface, f *topo.Fabric, p *peers, peer topo.HostID) (topo.Loop, error) {
	every := max(loopEvery.Nanoseconds(), 2*int64(f.PacketTime(p.self)))
	loops, err := node.Loops(f, p, p.self, peer, i.Name, every, loopSpan.Nanoseconds())
	if err != nil {
		return topo.Loop{}, err
	}
	return topo.Loop{Usual: units.Time(loops.Quantile(0.9)), Tail: units.Time(loops.Quantile(0.999))}, nil
}

// way finds the next hop to a peer, over an interface.
func way(c *rtnl.Conn, i *nexthop.Interface, to netip.Addr) (nexthop.Route, error) {
	r, err := nexthop.Lookup(c, to)
	if err == nil && r.Index != i.Index {
		other, name := nexthop.Interface{}, fmt.Sprint("interface ", r.Index)
		if other, err = nexthop.ByIndex(r.Index); err == nil {
			name = other.Name
		}
		return r, fmt.Errorf("%v is reached over %s, not over %s", to, name, i.Name)
	}
	return r, err
}

// station opens the host.
func (c *Config) station(
	i *nexthop.Interface, f *topo.Fabric, p *peers, params any, s *source, w host.Watcher,
) (*node.Station, error) {
	return node.OpenStation(node.StationConfig{
		Host: host.Config{
			Self: p.self, Fabric: f, Protocol: c.Protocol, Params: params, Seed: 1, To: units.Never,
			Source: s, Number: p.Number, Watch: w,
		},
		Reach: p, Interface: i.Name, CatchUp: catchUp,
	})
}

// decode reads the parameters that both ends go by.
func (c *Config) decode(f *topo.Fabric, params json.RawMessage) (any, error) {
	return all.DecodeParams(c.Protocol, f, params)
}

// totals adds up an endpoint's counts.
func totals(s *node.Station, w *watch) (Totals, error) {
	n, err := s.NIC()
	h := s.Host()
	return Totals{
		Offered: h.Offered, Acked: h.Acked, Failed: h.Failed, Delivered: h.Delivered,
		Received: h.Payload, Mismatches: h.Mismatches, NIC: n, Sent: w.sent,
	}, err
}
