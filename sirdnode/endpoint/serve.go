//go:build linux

package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"time"

	"sirdbed/emu/fabric/rtnl"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/endpoint/nexthop"
	"sirdbed/sirdnode/endpoint/session"
	"sirdbed/sirdnode/node"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// ServeConfig describes an endpoint that serves.
type ServeConfig struct {
	Config
	// Came and Left, if they are not nil, are told of peers. They must not block.
	Came func(netip.Addr)
	Left func(Visit)
}

// A Visit is a session that has ended.
type Visit struct {
	Addr   netip.Addr     `json:"addr"`
	Time   time.Duration  `json:"time"` // that it lasted, in ns
	Counts session.Counts `json:"received"`
	Error  string         `json:"error,omitempty"` // "" if the peer said so
}

// Served is what an endpoint that serves has seen.
type Served struct {
	Protocol  string              `json:"protocol"`
	Interface string              `json:"interface"`
	Address   netip.Addr          `json:"address"`
	Rate      units.BitsPerSecond `json:"rate"`
	MTU       units.Bytes         `json:"mtu"`
	Visits    []Visit             `json:"visits"` // the last ones, at most 1000
	Totals    Totals              `json:"totals"`
	Error     string              `json:"error,omitempty"`
}

// mostVisits bounds Served.Visits.
const mostVisits = 1000

// slots is how many hosts the network has as a server sees it: itself, and each session of
// a time in which there always was one.
const slots = 250

// A server is an endpoint that serves. Its host lives as long as anyone is connected: who
// comes then finds one without any state. All fields are of the goroutine that runs it,
// unless said otherwise.
type server struct {
	ServeConfig
	netlink *rtnl.Conn // anybody's
	iface   nexthop.Interface
	rate    units.BitsPerSecond
	mtu     units.Bytes
	peers   *peers // shared with what answers loops
	ctx     context.Context
	do      chan func() // to be called between turns

	visitors map[int]*visitor // sessions, by number
	slot     topo.HostID      // the next one's

	station *node.Station // nil: nobody is connected, or nobody has agreed yet
	begin   session.Begin // what it goes by
	fabric  *topo.Fabric
	watch   *watch
	tally   *tally
	served  Served
}

type visitor struct {
	host  topo.HostID
	hello session.Hello
	since time.Time
}

// Serve serves until ctx is done. Without c.Interface it is that of the default route, or
// the only one there is.
func Serve(ctx context.Context, c ServeConfig) (Served, error) {
	if err := c.check(); err != nil {
		return Served{}, err
	}
	if err := clock.LockThread(); err != nil {
		return Served{}, err
	}
	defer runtime.UnlockOSThread()
	s := &server{ServeConfig: c, do: make(chan func()), visitors: map[int]*visitor{}, slot: firstID}
	err := s.serve(ctx)
	if err != nil {
		s.served.Error = err.Error()
	}
	return s.served, err
}

func (s *server) serve(ctx context.Context) (err error) {
	if s.netlink, err = rtnl.Open(); err != nil {
		return err
	}
	defer s.netlink.Close()
	if s.iface, err = serving(s.netlink, s.Interface); err != nil {
		return err
	}
	if s.mtu, err = s.Config.mtu(&s.iface); err != nil {
		return err
	}
	s.rate, _ = s.Config.rate(&s.iface)
	own := s.iface.Addr
	s.peers = newPeers(0, own, s.iface.MAC)
	held, err := holdPorts(own, s.Protocol.Wire.Port, node.LoopPort)
	if err != nil {
		return err
	}
	defer held.close()
	// Parameters that cannot work are found before anybody comes.
	if _, _, err := s.agree(topo.Loop{}); err != nil {
		return err
	}
	f, err := topo.New(spec(slots, s.rate, 0, s.mtu))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx = ctx
	sessions, loops := make(chan error, 1), make(chan error, 1)
	go func() {
		err := session.Serve(ctx, own, s)
		cancel()
		sessions <- err
	}()
	go func() {
		err := clock.LockThread() // and never unlocked: the thread ends with the goroutine
		if err == nil {
			err = node.AnswerLoops(f, s.peers, 0, s.iface.Name, func() bool { return ctx.Err() != nil })
		}
		if err != nil {
			err = fmt.Errorf("interface %s: %w", s.iface.Name, err)
		}
		cancel()
		loops <- err
	}()
	s.served = Served{
		Protocol: s.Protocol.Name, Interface: s.iface.Name, Address: own, Rate: s.rate, MTU: s.mtu, Visits: []Visit{},
	}
	s.opened(&s.iface)
	err = s.run()
	cancel()
	for _, id := range slices.Sorted(maps.Keys(s.visitors)) {
		s.leave(id, errors.New(stopped))
	}
	s.rest()
	if of := <-sessions; err == nil {
		err = of
	}
	if of := <-loops; err == nil {
		err = of
	}
	return err
}

// serving is the interface to serve on.
func serving(c *rtnl.Conn, name string) (nexthop.Interface, error) {
	if name != "" {
		return nexthop.ByName(name)
	}
	anywhere := netip.AddrFrom4([4]byte{198, 51, 100, 1}) // of no network (RFC 5737)
	if r, err := nexthop.Lookup(c, anywhere); err == nil {
		return nexthop.ByIndex(r.Index)
	}
	list, err := nexthop.Usable()
	switch {
	case err != nil:
		return nexthop.Interface{}, err
	case len(list) == 1:
		return list[0], nil
	case len(list) == 0:
		return nexthop.Interface{}, errors.New("there is no Ethernet interface that is up and has an IPv4 address")
	}
	var names []string
	for i := range list {
		names = append(names, list[i].Name)
	}
	return nexthop.Interface{}, fmt.Errorf("there are several interfaces: choose by --interface one of %s",
		strings.Join(names, ", "))
}

// run serves until ctx is done, or the interface goes down.
func (s *server) run() error {
	for {
		if s.station == nil {
			select {
			case f := <-s.do:
				f()
			case <-s.ctx.Done():
				return nil
			}
			continue
		}
		select {
		case f := <-s.do:
			f()
			continue
		case <-s.ctx.Done():
			return nil
		default:
		}
		mono := clock.Monotonic()
		if mono >= s.tally.due() {
			if err := s.second(); err != nil {
				return err
			}
		}
		if _, err := s.station.Turn(min(mono+lookEvery.Nanoseconds(), s.tally.due())); err != nil {
			return fmt.Errorf("interface %s: %w", s.iface.Name, err)
		}
	}
}

func (s *server) second() error {
	t, err := totals(s.station, s.watch)
	if err != nil {
		return err
	}
	second := s.tally.second(t)
	second.Peers = len(s.visitors)
	if s.Each != nil {
		s.Each(second)
	}
	return nil
}

// rest ends the host: nobody is connected any more.
func (s *server) rest() {
	if s.station != nil {
		if t, err := totals(s.station, s.watch); err == nil {
			s.served.Totals = s.served.Totals.plus(t)
		}
		s.station.Close()
		s.station, s.watch = nil, nil
	}
	s.slot = firstID
}

// agree works out what both ends go by, given a measured credit loop.
func (s *server) agree(l topo.Loop) (session.Begin, *topo.Fabric, error) {
	delay, err := delayOf(l, s.rate, s.mtu)
	if err != nil {
		return session.Begin{}, nil, err
	}
	f, err := topo.New(spec(slots, s.rate, delay, s.mtu))
	if err != nil {
		return session.Begin{}, nil, err
	}
	f = f.WithLoop(l)
	params, err := s.decode(f, s.Params)
	if err != nil {
		return session.Begin{}, nil, err
	}
	text, err := json.Marshal(params)
	return session.Begin{Rate: s.rate, Delay: delay, Loop: l, Params: text}, f, err
}
