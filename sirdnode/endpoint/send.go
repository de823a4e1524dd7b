//go:build linux

package endpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"time"

	"sirdbed/emu/fabric/rtnl"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/endpoint/nexthop"
	"sirdbed/sirdnode/endpoint/session"
	"sirdbed/sirdnode/node"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Report is what an endpoint that sends has seen.
type Report struct {
	Protocol  string              `json:"protocol"`
	Interface string              `json:"interface"`
	Address   netip.Addr          `json:"address"`
	Rate      units.BitsPerSecond `json:"rate"`      // of this machine's link
	PeerRate  units.BitsPerSecond `json:"peer_rate"` // of the peers'
	MTU       units.Bytes         `json:"mtu"`       // of the transport's packets
	Params    any                 `json:"params"`
	Peers     []PeerReport        `json:"peers"`
	// Loop is the longest of the measured credit loops, and BDP what a peer's link carries in it.
	Loop topo.Loop   `json:"loop"`
	BDP  units.Bytes `json:"bdp"`

	Time     time.Duration       `json:"time"` // of sending, in ns
	Totals   Totals              `json:"totals"`
	Latency  Latency             `json:"latency"`
	Goodput  units.BitsPerSecond `json:"goodput"`
	Failures []string            `json:"failures,omitempty"` // reasons, the first few
	WakeUps  Latency             `json:"wake_ups"`           // how late this host has been
	Error    string              `json:"error,omitempty"`
}

// PeerReport is one that was sent to.
type PeerReport struct {
	Addr    netip.Addr     `json:"addr"`
	NextHop netip.Addr     `json:"next_hop"`
	Loop    topo.Loop      `json:"loop"`
	Counts  session.Counts `json:"received_there"`
}

// A sender is an endpoint that sends a Load.
type sender struct {
	*Config
	netlink  *rtnl.Conn
	iface    nexthop.Interface
	own      netip.Addr
	peers    *peers
	sessions []*session.Conn
	held     *hold
	report   Report

	station *node.Station
	source  *source
	watch   *watch
	tally   *tally
}

// Send connects to those who serve at some addresses, and sends them a load, until it is
// done or ctx is. With an error the report has what came before it. Without c.Interface it
// is that of the route to the first of them.
func Send(ctx context.Context, c Config, load Load, to []netip.Addr) (Report, error) {
	if err := c.check(); err != nil {
		return Report{}, err
	}
	if err := clock.LockThread(); err != nil {
		return Report{}, err
	}
	defer runtime.UnlockOSThread()
	s := &sender{Config: &c}
	defer s.close()
	err := s.open(ctx, to)
	if err == nil {
		err = s.begin(load)
	}
	if err == nil {
		err = s.run(ctx)
	}
	if s.station != nil {
		err = s.finish(err)
	}
	if err != nil {
		s.report.Error = err.Error()
	}
	return s.report, err
}

func (s *sender) close() {
	for _, c := range s.sessions {
		c.Close()
	}
	if s.station != nil {
		s.station.Close()
	}
	if s.held != nil {
		s.held.close()
	}
	if s.netlink != nil {
		s.netlink.Close()
	}
}

// firstID is the HostID of the first peer: an endpoint itself is host 0.
const firstID topo.HostID = 1

// open finds the interface and the way to each peer.
func (s *sender) open(ctx context.Context, to []netip.Addr) (err error) {
	if s.netlink, err = rtnl.Open(); err != nil {
		return err
	}
	first, err := nexthop.Lookup(s.netlink, to[0])
	if err != nil {
		return err
	}
	if s.Interface != "" {
		s.iface, err = nexthop.ByName(s.Interface)
	} else {
		s.iface, err = nexthop.ByIndex(first.Index)
	}
	if err != nil {
		return err
	}
	s.own = s.iface.Addr
	if slices.Contains(s.iface.All, first.Source) {
		s.own = first.Source
	}
	s.opened(&s.iface)
	s.peers = newPeers(0, s.own, s.iface.MAC)
	for i, addr := range to {
		r, err := way(s.netlink, &s.iface, addr)
		if err != nil {
			return err
		}
		mac, err := nexthop.Resolve(ctx, s.netlink, &s.iface, r, netip.AddrPortFrom(addr, node.LoopPort))
		if err != nil {
			return err
		}
		s.peers.add(firstID+topo.HostID(i), addr, mac)
		s.report.Peers = append(s.report.Peers, PeerReport{Addr: addr, NextHop: r.Hop})
	}
	return s.connect(ctx, to)
}

// connect opens the sessions.
func (s *sender) connect(ctx context.Context, to []netip.Addr) error {
	mtu, err := s.mtu(&s.iface)
	if err != nil {
		return err
	}
	for _, addr := range to {
		c, welcome, err := session.Connect(ctx, s.own, addr, session.Hello{
			Build: s.Build, Protocol: s.Protocol.Name, Params: s.Params, MTU: mtu,
		})
		if err != nil {
			return err
		}
		s.sessions = append(s.sessions, c)
		if s.report.MTU == 0 {
			s.report.MTU = welcome.MTU
		}
		if welcome.MTU != s.report.MTU {
			return fmt.Errorf("%v has packets of %d B and %v of %d B: give both the same --mtu",
				to[0], s.report.MTU, addr, welcome.MTU)
		}
	}
	return nil
}

// measureAll measures the credit loop of each peer.
func (s *sender) measureAll(rate units.BitsPerSecond) error {
	f, err := topo.New(spec(1+len(s.sessions), rate, 0, s.report.MTU))
	if err != nil {
		return err
	}
	for i := range s.sessions {
		p := &s.report.Peers[i]
		if p.Loop, err = s.measure(&s.iface, f, s.peers, firstID+topo.HostID(i)); err != nil {
			return err
		}
		if p.Loop == (topo.Loop{}) {
			return fmt.Errorf("%v: no packet came back within %v, though its TCP port answers: does a firewall "+
				"drop UDP to ports %d and %d, or packets of %d B?", p.Addr, loopSpan, s.Protocol.Wire.Port,
				node.LoopPort, s.report.MTU)
		}
		if p.Loop.Usual > s.report.Loop.Usual {
			s.report.Loop = p.Loop
		}
	}
	return nil
}

// agree agrees with all peers on one set of parameters: those that follow from the longest
// loop, where nobody else sends to them.
func (s *sender) agree() (first session.Begin, err error) {
	for i, c := range s.sessions {
		begin, err := c.Agree(s.report.Loop)
		if err != nil {
			return first, err
		}
		if i == 0 {
			first = begin
		}
		a, b := s.report.Peers[0].Addr, s.report.Peers[i].Addr
		if begin.Rate != first.Rate {
			return first, fmt.Errorf("the link of %v has %v and that of %v has %v: serve with the same --rate",
				a, first.Rate, b, begin.Rate)
		}
		if string(begin.Params) != string(first.Params) {
			return first, fmt.Errorf("%v and %v go by different parameters: serve with the same --set at both, "+
				"or send when nobody else does", a, b)
		}
	}
	return first, nil
}

// begin measures credit loops, agrees with the peers and makes the host.
func (s *sender) begin(load Load) error {
	rate, _ := s.rate(&s.iface)
	held, err := holdPorts(s.own, s.Protocol.Wire.Port, node.LoopPort)
	if err != nil {
		return err
	}
	s.held = held
	if err := s.measureAll(rate); err != nil {
		return err
	}
	first, err := s.agree()
	if err != nil {
		return err
	}
	var targets []topo.HostID
	for i := range s.sessions {
		targets = append(targets, firstID+topo.HostID(i))
	}
	network := spec(1+len(s.sessions), first.Rate, first.Delay, s.report.MTU)
	if rate != first.Rate {
		network.Links = []topo.LinkOverride{{Between: [2]string{"leaf1", "h1-1"}, Rate: &rate}}
	}
	f, err := topo.New(network)
	if err != nil {
		return err
	}
	f = f.WithLoop(s.report.Loop)
	params, err := s.decode(f, first.Params)
	if err != nil {
		return err
	}
	s.tally, s.watch = newTally(), newWatch()
	s.source = newSource(load, targets, func(latency units.Time) {
		s.tally.add(latency)
		s.watch.sent += int64(load.Size)
	})
	s.watch.source = s.source
	s.report.Protocol, s.report.Interface, s.report.Address = s.Protocol.Name, s.iface.Name, s.own
	s.report.Rate, s.report.Params = rate, json.RawMessage(first.Params)
	s.report.PeerRate, s.report.BDP = first.Rate, first.Rate.BytesIn(s.report.Loop.Usual)
	s.station, err = s.Config.station(&s.iface, f, s.peers, params, s.source, s.watch)
	return err
}
