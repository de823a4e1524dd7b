package model

import (
	"slices"
	"testing"

	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

const us = units.Microsecond

// An arrival is when a data packet was received, and which part of its message it has.
type arrival struct {
	at     units.Time
	offset units.Bytes
}

// failing has h1-1 send 1 MB to h1-2 under a timeline, 81 us at line rate, and returns the
// data packets that arrived.
func failing(t *testing.T, timeline ...fault.Event) (*Sim, []arrival) {
	t.Helper()
	var list []arrival
	s := newSim(t, Config{
		Fabric: paperFabric(t, rack(3)), Seed: 1, Timeline: timeline,
		Sends: []Send{{Src: 0, Dst: 1, Size: 1_000_000}},
		Params: &fakeParams{Got: func(now transport.Time, p *transport.Packet) {
			list = append(list, arrival{now, transport.Bytes(len(list))})
		}},
	})
	s.Run(300 * us)
	s.Drain()
	c := s.Totals()
	if h, p := c.HostStats, c.PortStats; c.Sent+p.Extra != h.Received+p.Drops+p.Lost || s.InFlight() != 0 {
		t.Errorf("%d sent; received %d, ports %+v, %d in flight: want each packet received or lost", c.Sent, h.Received,
			p, s.InFlight())
	}
	return s, list
}

// between counts the packets that arrived in [from, to).
func between(list []arrival, from, to units.Time) (n int) {
	for _, a := range list {
		if a.at >= from && a.at < to {
			n++
		}
	}
	return n
}

// A full packet of 1538 B takes 123.04 ns; from h1-1 it takes 2.75 us to be at h1-2.
const (
	transit = 2746
	packets = 691 // of the message
)

// What leaves a host meets its uplink when it begins to leave, what comes down to one its
// downlink when it has arrived. So 10 us of either are 81 packets.
func TestLinkThatIsCut(t *testing.T) {
	const from, span = 20 * us, 10 * us
	cut := func(do fault.Kind, link string) fault.Event {
		return fault.Event{At: from, For: span, Link: link, Do: do}
	}
	for _, c := range []struct {
		name   string
		event  fault.Event
		start  units.Time // of 10 us in which nothing arrives
		lost   int
		faults int64 // of these, at the host that they arrived at
	}{
		{"uplink", cut(fault.Blackhole, "h1-1>leaf1"), from + transit, 81, 0},
		{"downlink", cut(fault.Blackhole, "leaf1>h1-2"), from, 81, 81},
		{"both directions of the sender's", cut(fault.Blackhole, "h1-1"), from + transit, 81, 0},
		{"both directions of the receiver's", cut(fault.Blackhole, "h1-2<>leaf1"), from, 81, 81},
		{"the sender's, down", cut(fault.Down, "h1-1"), from + transit, 81, 0},
		{"the other direction", cut(fault.Blackhole, "leaf1>h1-1"), 0, 0, 0},
		{"another host's", cut(fault.Blackhole, "h1-3"), 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, list := failing(t, c.event)
			lost := packets - len(list)
			if lost < c.lost-1 || lost > c.lost+1 {
				t.Errorf("%d packets lost, want %d", lost, c.lost)
			}
			if f := s.HostStats(1).Faults; f < c.faults-1 || f > c.faults+1 {
				t.Errorf("%d lost at the host, want %d", f, c.faults)
			}
			if n := between(list, c.start+200, c.start+span-200); c.lost > 0 && n > 0 {
				t.Errorf("%d packets arrived meanwhile", n)
			}
			if n := between(list, c.start+span+200, units.Never); c.lost > 0 && n < 400 {
				t.Errorf("%d packets arrived afterwards, want the other 440", n)
			}
		})
	}
}

// What waits for a link that goes down is lost, and what comes for it meanwhile; one
// that is a black hole takes its time for both.
func TestQueueOfALinkThatGoesDown(t *testing.T) {
	for _, c := range []struct {
		do   fault.Kind
		want bool // the queue is empty
	}{{fault.Down, true}, {fault.Blackhole, false}} {
		t.Run(string(c.do), func(t *testing.T) {
			f := paperFabric(t, rack(3))
			s := newSim(t, Config{
				Fabric: f, Seed: 1, Timeline: fault.Timeline{{At: 30 * us, For: 10 * us, Link: "h1-1", Do: c.do}},
				Sends: []Send{{Src: 1, Dst: 0, Size: 1_000_000}, {Src: 2, Dst: 0, Size: 1_000_000}},
			})
			down := f.Downlink(0).ID
			s.Run(30*us - 1)
			if n := s.Queue(down).Bytes; n < 300_000 {
				t.Fatalf("%v wait before, want half of what two senders have sent", n)
			}
			s.Run(30 * us)
			if empty := s.Queue(down).Bytes == 0; empty != c.want {
				t.Errorf("%v wait, want the queue empty: %v", s.Queue(down).Bytes, c.want)
			}
			s.Run(300 * us)
			s.Drain()
			conserved(t, s)
			if s.Host(0).Counts().Received == 0 {
				t.Error("nothing was received")
			}
		})
	}
}

// A link's packets are spaced by its rate as long as that is another.
func TestRateOfALink(t *testing.T) {
	_, list := failing(t, fault.Event{At: 20 * us, For: 20 * us, Link: "h1-1", Do: fault.Rate, Rate: 25 * units.Gbps})
	for _, c := range []struct {
		from units.Time
		want int // in 10 us
	}{{5 * us, 81}, {25 * us, 20}, {45 * us, 81}} {
		if n := between(list, c.from, c.from+10*us); n < c.want-1 || n > c.want+1 {
			t.Errorf("%d packets from %v on, want %d", n, c.from, c.want)
		}
	}
	if len(list) != packets {
		t.Errorf("%d packets arrived, want %d", len(list), packets)
	}
}

// On a link that gets longer there is a gap; on one that gets shorter again nothing
// overtakes, so that what follows arrives with what went before.
func TestDelayOfALink(t *testing.T) {
	_, plain := failing(t)
	_, list := failing(t, fault.Event{At: 20 * us, For: 20 * us, Link: "leaf1>h1-2", Do: fault.Delay,
		Delay: 1250 + 5*us})
	if len(list) != packets || len(plain) != packets {
		t.Fatalf("%d packets arrived, want %d", len(list), packets)
	}
	for i := range list {
		switch left := plain[i].at - 1373; {
		case left < 20*us-200 && list[i].at != plain[i].at:
			t.Fatalf("packet %d, before: %v, want %v", i, list[i].at, plain[i].at)
		case left > 20*us+200 && left < 40*us-200 && list[i].at != plain[i].at+5*us:
			t.Fatalf("packet %d, meanwhile: %v, want %v", i, list[i].at, plain[i].at+5*us)
		case left > 40*us+200 && left < 45*us-200 && list[i].at != list[i-1].at:
			t.Fatalf("packet %d, right afterwards: %v, want %v", i, list[i].at, list[i-1].at)
		case left > 45*us+200 && list[i].at != plain[i].at:
			t.Fatalf("packet %d, afterwards: %v, want %v", i, list[i].at, plain[i].at)
		}
	}
}

// A share of the frames suffers from a time to a time, in the direction that is named.
func TestSharesOfALink(t *testing.T) {
	for _, link := range []string{"h1-1>leaf1", "leaf1>h1-2"} {
		for _, c := range []struct {
			do              fault.Kind
			least, most     int // packets that the receiver gets of 691, some 325 of them meanwhile
			corrupt, repeat bool
		}{
			{do: fault.Drop, least: 691 - 325*6/10, most: 691 - 325*4/10},
			{do: fault.Duplicate, least: 691 + 325*4/10, most: 691 + 325*6/10, repeat: true},
			{do: fault.Reorder, least: 691, most: 691},
			{do: fault.Corrupt, least: 691 - 325*6/10, most: 691 - 325*4/10, corrupt: true},
		} {
			t.Run(string(c.do)+" "+link, func(t *testing.T) {
				s, list := failing(t, fault.Event{At: 20 * us, For: 40 * us, Link: link, Do: c.do, Share: 0.5})
				if n := len(list); n < c.least || n > c.most {
					t.Errorf("%d packets, want %d to %d", n, c.least, c.most)
				}
				if total := s.Totals(); (total.HostStats.Corrupt > 0) != c.corrupt ||
					(total.HostStats.Extra+total.PortStats.Extra > 0) != c.repeat {
					t.Errorf("%+v, want some corrupt: %v, repeated: %v", total, c.corrupt, c.repeat)
				}
				if n := between(list, 0, 20*us); n != 141 {
					t.Errorf("%d packets before, want all 141", n)
				}
			})
		}
	}
}

// Links between switches fail as others do.
func TestCoreLinkFails(t *testing.T) {
	f := paperFabric(t, func(s *topo.Spec) { s.Leaves, s.HostsPerLeaf, s.Spines = 2, 1, 1 })
	for _, link := range []string{"leaf1>spine1", "spine1<>leaf2"} {
		t.Run(link, func(t *testing.T) {
			s := newSim(t, Config{Fabric: f, Seed: 1, Sends: []Send{{Src: 0, Dst: 1, Size: 1_000_000}},
				Timeline: fault.Timeline{{At: 20 * us, For: 10 * us, Link: link, Do: fault.Blackhole}}})
			s.Run(300 * us)
			s.Drain()
			conserved(t, s)
			if n := s.Totals().PortStats.Lost; n < 80 || n > 82 {
				t.Errorf("%d packets lost, want the 81 of 10 us", n)
			}
		})
	}
}

// A paused host sends nothing, takes no packet before it goes on, and loses none.
func TestHostThatIsPaused(t *testing.T) {
	pause := func(host string) fault.Event {
		return fault.Event{At: 20 * us, For: 10 * us, Host: host, Do: fault.Pause}
	}
	t.Run("receiver", func(t *testing.T) {
		_, list := failing(t, pause("h1-2"))
		if n := between(list, 20*us, 30*us); n != 0 || len(list) != packets {
			t.Errorf("%d of %d packets taken meanwhile, want none of %d", n, len(list), packets)
		}
		if n := between(list, 30*us, 30*us+1); n < 80 || n > 82 {
			t.Errorf("%d packets taken at once, want the 81 that had come", n)
		}
	})
	t.Run("sender", func(t *testing.T) {
		_, list := failing(t, pause("h1-1"))
		if n := between(list, 20*us+transit+200, 30*us+transit-200); n != 0 || len(list) != packets {
			t.Errorf("%d of %d packets arrived, want none of %d", n, len(list), packets)
		}
	})
	t.Run("receiver until the end", func(t *testing.T) {
		_, list := failing(t, fault.Event{At: 20 * us, For: units.Millisecond, Host: "h1-2", Do: fault.Pause})
		if len(list) != packets {
			t.Errorf("%d packets arrived, want all %d by the end", len(list), packets)
		}
	})
}

// A host that was killed forgets its messages, which fail; another transport begins its
// next life, and what the application would have sent meanwhile is not sent.
func TestHostThatIsKilled(t *testing.T) {
	var lives []transport.Incarnation
	protocol := fakeProtocol
	protocol.New = func(env transport.Env, params any) (transport.Transport, error) {
		if env.Self == 0 {
			lives = append(lives, env.Incarnation)
		}
		return fakeProtocol.New(env, params)
	}
	run := func(restart units.Time) *Sim {
		lives = nil
		s := newSim(t, Config{
			Fabric: paperFabric(t, rack(3)), Seed: 1, Protocol: protocol, Params: &fakeParams{Acks: true},
			Timeline: fault.Timeline{{At: 20 * us, Restart: restart, Host: "h1-1", Do: fault.Kill}},
			Sends: []Send{
				{At: 1 * us, Src: 0, Dst: 1, Size: 1000}, {At: 2 * us, Src: 0, Dst: 1, Size: 1_000_000},
				{At: 25 * us, Src: 0, Dst: 1, Size: 1000}, {At: 50 * us, Src: 0, Dst: 1, Size: 2000},
				{At: 22 * us, Src: 2, Dst: 0, Size: 3000}, {At: 60 * us, Src: 2, Dst: 0, Size: 4000},
			},
		})
		s.RunUntilDone(200 * us)
		s.Drain()
		conserved(t, s)
		return s
	}
	t.Run("restarted", func(t *testing.T) {
		s := run(20 * us)
		if want := []transport.Incarnation{1, 2}; !slices.Equal(lives, want) {
			t.Errorf("incarnations %d, want %d", lives, want)
		}
		if c := s.Host(0).Counts(); c.Offered != 3 || c.Acked != 2 || c.Failed != 1 {
			t.Errorf("%+v: want 3 offered, of which the one in between has failed", c)
		}
		if c := s.Host(0).Counts(); c.Delivered != 1 || s.HostStats(0).Faults == 0 {
			t.Errorf("%d messages arrived and %d packets were lost: want the later of two, and those of the first",
				c.Delivered, s.HostStats(0).Faults)
		}
	})
	t.Run("for good", func(t *testing.T) {
		s := run(0)
		done, c := s.Host(0).Done(), s.Host(0).Counts()
		if !done || c.Offered != 2 || c.Acked != 1 || c.Failed != 1 || len(lives) != 1 {
			t.Errorf("done %v, %+v, %d lives: want it done with 2 offered, 1 of them failed, in one", done, c,
				len(lives))
		}
	})
}

// What happens is a function of seed and timeline.
func TestSameTimelineSameBits(t *testing.T) {
	timeline := []fault.Event{
		{At: 0, Link: "h1-1", Do: fault.Drop, Share: 0.1}, {At: 0, Link: "h1-2", Do: fault.Reorder, Share: 0.2},
		{At: 30 * us, For: 5 * us, Host: "h1-2", Do: fault.Pause},
		{At: 50 * us, Restart: 5 * us, Host: "h1-1", Do: fault.Kill},
	}
	first, list := failing(t, timeline...)
	again, same := failing(t, timeline...)
	if !slices.Equal(list, same) || first.Totals() != again.Totals() {
		t.Error("the same timeline gives another run")
	}
}
