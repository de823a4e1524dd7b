//go:build linux

package node

import (
	"io"

	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/host"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A Station is a host outside of a run: on an interface of any machine, in real time,
// without a controller, a log or an end. Nominal 0 is when it was opened. It is for one
// goroutine, which clock.LockThread has tied to its thread.
type Station struct {
	station
	clock *clock.Clock
	pace  moderation
	wait  int64
}

// StationConfig describes a Station.
type StationConfig struct {
	Host      host.Config
	Reach     Reach
	Interface string
	CatchUp   units.Time // as in Config
	Apart     int64      // as in Config
}

// OpenStation opens a host's raw socket, and makes the host.
func OpenStation(c StationConfig) (*Station, error) {
	h, err := host.New(c.Host, record.NewWriter(io.Discard))
	if err != nil {
		return nil, err
	}
	s := &Station{pace: moderation{apart: c.Apart}}
	s.app, s.host, s.catchUp = h.Application, h, c.CatchUp
	cfg := Config{Self: c.Host.Self, Interface: c.Interface, RxFrames: StallFrames}
	network := c.Host.Protocol.Network(c.Host.Fabric, c.Host.Params)
	if s.nic, err = openNIC(c.Host.Fabric, c.Reach, c.Host.Protocol, network, &cfg); err != nil {
		return nil, err
	}
	if s.clock, err = clock.New(clock.Monotonic(), 1); err != nil {
		s.nic.close()
		return nil, err
	}
	s.nic.clock = s.clock
	return s, nil
}

// Turn waits until something arrives or is due, but not beyond the monotonic time until,
// and does what is due. It returns the nominal time.
func (s *Station) Turn(until int64) (units.Time, error) {
	if err := s.pace.rest(); err != nil {
		return 0, err
	}
	_, mono, err := s.nic.socket.Wait(min(s.wait, until), nil)
	if err != nil {
		return 0, err
	}
	s.pace.wokeAt(mono)
	now := s.clock.ToNominal(mono)
	s.nic.take(mono)
	now = s.looked(now)
	if err := s.serve(now); err != nil {
		return 0, err
	}
	s.wait = s.clock.ToKernel(s.next(now))
	return now, nil
}

// Host returns the totals of the host.
func (s *Station) Host() host.Counts { return s.host.Counts() }

// NIC returns the totals of its raw socket. It takes a system call.
func (s *Station) NIC() (NICCounts, error) {
	counts := s.nic.counts
	drops, err := s.nic.socket.Drops()
	counts.Drops += int64(drops)
	return counts, err
}

// Lateness returns how late what was due has been, in ns. It is the Station's.
func (s *Station) Lateness() *clock.Lateness { return &s.lateness }

// Close closes the socket.
func (s *Station) Close() { s.nic.close() }

// Loops measures credit loops with a host that answers them, for a monotonic span in ns
// and one every so many, and returns how long they took, in ns. The fabric has the MTU.
func Loops(f *topo.Fabric, r Reach, self, peer topo.HostID, iface string, every, span int64) (*clock.Lateness, error) {
	p, err := openProber(f, r, self, iface)
	if err != nil {
		return nil, err
	}
	defer p.nic.close()
	start := clock.Monotonic()
	err = p.run(&Calibration{Peer: peer, Every: every, For: span}, start)
	return &p.loops, err
}

// AnswerLoops answers credit loops of others until stopped reports true, which it is asked
// ten times a second.
func AnswerLoops(f *topo.Fabric, r Reach, self topo.HostID, iface string, stopped func() bool) error {
	p, err := openProber(f, r, self, iface)
	if err != nil {
		return err
	}
	defer p.nic.close()
	const never = clock.Forever / 2 // from now on
	for !stopped() {
		if err := p.run(&Calibration{After: never, For: 1e8}, clock.Monotonic()); err != nil {
			return err
		}
	}
	return nil
}

func openProber(f *topo.Fabric, r Reach, self topo.HostID, iface string) (*prober, error) {
	n, err := openNIC(f, r, loopProtocol, loopProtocol.Network(f, nil), &Config{
		Self: self, Interface: iface, RxFrames: StallFrames,
	})
	if err != nil {
		return nil, err
	}
	if n.clock, err = clock.New(0, 1); err != nil {
		n.close()
		return nil, err
	}
	return newProber(n, 0), nil
}
