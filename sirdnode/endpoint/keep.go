//go:build linux

package endpoint

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"sirdbed/sirdnode/endpoint/nexthop"
	"sirdbed/sirdnode/endpoint/session"
	"sirdbed/sirdnode/node"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A server is a session.Keeper: what sessions' goroutines ask of it, it does between turns.

// call has f called by the goroutine that runs the server, unless that is stopped.
func (s *server) call(f func()) {
	done := make(chan struct{})
	select {
	case s.do <- func() { f(); close(done) }:
		<-done
	case <-s.ctx.Done():
	}
}

const stopped = "it has been stopped"

// Greet implements session.Keeper.
func (s *server) Greet(id int, from netip.Addr, h session.Hello) session.Welcome {
	var mac topo.MAC
	err := s.fits(from, &h)
	if err == nil {
		mac, err = s.find(from)
	}
	w := session.Welcome{Error: stopped}
	s.call(func() {
		if err == nil && s.slot >= slots {
			err = fmt.Errorf("%d peers have come since it last was without any: wait until all are gone", slots-1)
		}
		if err != nil {
			w = session.Welcome{Error: err.Error()}
			return
		}
		s.visitors[id] = &visitor{s.slot, h, time.Now()}
		s.peers.add(s.slot, from, mac)
		s.slot++
		if s.Came != nil {
			s.Came(from)
		}
		w = session.Welcome{MTU: s.mtu}
	})
	return w
}

// fits reports whether both ends are of one kind.
func (s *server) fits(from netip.Addr, h *session.Hello) error {
	switch {
	case h.Build != s.Build:
		return fmt.Errorf("it is %s, not %s: use the same build at both ends", s.Build, h.Build)
	case h.Protocol != s.Protocol.Name:
		return fmt.Errorf("it serves %s, not %s", s.Protocol.Name, h.Protocol)
	case h.Addr != from:
		return fmt.Errorf("it sees %v where %v says it is: addresses are translated on the way", from, h.Addr)
	case h.MTU < s.mtu:
		return fmt.Errorf("its packets have up to %d B, and %d fit the other end's interface: "+
			"serve with --mtu %d", s.mtu, h.MTU, h.MTU)
	}
	return nil
}

// find returns the MAC address of the next hop to a peer, whom this machine's kernel has
// just answered.
func (s *server) find(to netip.Addr) (topo.MAC, error) {
	r, err := way(s.netlink, &s.iface, to)
	if err != nil {
		return topo.MAC{}, err
	}
	return nexthop.Resolve(s.ctx, s.netlink, &s.iface, r, netip.AddrPortFrom(to, node.LoopPort))
}

// Agree implements session.Keeper.
func (s *server) Agree(id int, m session.Measured) session.Begin {
	b := session.Begin{Error: stopped}
	s.call(func() {
		err := s.wake(m.Loop)
		if err == nil {
			err = s.same(s.visitors[id].hello.Params)
		}
		if b = s.begin; err != nil {
			b = session.Begin{Error: err.Error()}
		}
	})
	return b
}

// wake makes the host, if nobody has been there.
func (s *server) wake(l topo.Loop) (err error) {
	if s.station != nil {
		return nil
	}
	if l.Usual < 0 || l.Usual > units.Second || l.Tail < 0 || l.Tail > units.Second {
		return fmt.Errorf("a credit loop of %v, at times %v: too long for a data center", l.Usual, l.Tail)
	}
	if s.begin, s.fabric, err = s.agree(l); err != nil {
		return err
	}
	params, err := s.decode(s.fabric, s.begin.Params)
	if err != nil {
		return err
	}
	s.tally, s.watch = newTally(), newWatch()
	s.watch.source = newSource(Load{}, nil, s.tally.add)
	s.station, err = s.Config.station(&s.iface, s.fabric, s.peers, params, s.watch.source, s.watch)
	return err
}

// same reports parameters that were given at the other end and are not those here.
func (s *server) same(given json.RawMessage) error {
	if len(given) == 0 {
		return nil
	}
	theirs, err := s.decode(s.fabric, given)
	if err != nil {
		return err
	}
	text, err := json.Marshal(theirs)
	if err != nil {
		return err
	}
	var here, there, names map[string]json.RawMessage
	for _, one := range []struct {
		text json.RawMessage
		to   *map[string]json.RawMessage
	}{{s.begin.Params, &here}, {text, &there}, {given, &names}} {
		if err := json.Unmarshal(one.text, one.to); err != nil {
			return err
		}
	}
	for name := range names {
		if string(here[name]) != string(there[name]) {
			return fmt.Errorf("it has %s.%s %s, not %s: the serving end states parameters, "+
				"and the other the same or none", s.Protocol.Name, name, here[name], there[name])
		}
	}
	return nil
}

// Counts implements session.Keeper.
func (s *server) Counts(id int) (c session.Counts) {
	s.call(func() {
		if s.watch != nil {
			c = *s.watch.peer(s.visitors[id].host)
		}
	})
	return c
}

// Leave implements session.Keeper.
func (s *server) Leave(id int, err error) {
	s.call(func() { s.leave(id, err) })
}

// leave ends a session, and the host with the last one.
func (s *server) leave(id int, err error) {
	v := s.visitors[id]
	visit := Visit{Addr: v.hello.Addr, Time: time.Since(v.since)}
	if s.watch != nil {
		visit.Counts = *s.watch.peer(v.host)
	}
	if err != nil {
		visit.Error = err.Error()
	}
	s.peers.remove(v.host)
	delete(s.visitors, id)
	if len(s.served.Visits) == mostVisits {
		s.served.Visits = s.served.Visits[1:]
	}
	s.served.Visits = append(s.served.Visits, visit)
	if s.Left != nil {
		s.Left(visit)
	}
	if len(s.visitors) == 0 {
		s.rest()
	}
}
