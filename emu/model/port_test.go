package model

import (
	"math/rand/v2"
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// burst is a 100 Gbps host's burst of packets through a 10 Gbps core link, where
// nearly all of it queues. It returns the simulation, run to its end, and the
// events of the slow port.
func burst(t *testing.T, network transport.Network, limit units.Bytes, count int,
	tune func(int, *transport.Packet)) (*Sim, *topo.Port, []PacketEvent) {
	t.Helper()
	f := paperFabric(t, func(s *topo.Spec) {
		s.Leaves, s.Spines, s.HostsPerLeaf, s.CoreRate = 2, 1, 1, 10*units.Gbps
	})
	slow, _ := f.PortBetween(f.LeafOf(0), f.Nodes[len(f.Nodes)-1].ID)
	var events []PacketEvent
	s := newSim(t, Config{
		Fabric: f, Network: &network, QueueLimit: limit, Params: &fakeParams{Tune: tune},
		Sends: []Send{{Dst: 1, Size: units.Bytes(count) * 1448}},
		OnPacket: func(e PacketEvent) {
			if e.Port.ID == slow {
				p := *e.Packet
				e.Packet = &p
				events = append(events, e)
			}
		},
	})
	s.Run(10 * units.Millisecond)
	conserved(t, s)
	return s, &f.Ports[slow], events
}

// reference is the slow port of burst worked out from a list of arrivals alone:
// what waits when each comes, and when each leaves.
type reference struct {
	free    int64
	waiting []refPacket
}

type refPacket struct {
	n, level int
	frame    int64
}

func (r *reference) serve(now int64, left func(refPacket, int64)) {
	for len(r.waiting) > 0 && r.free <= now {
		best := 0
		for i, p := range r.waiting {
			if p.level > r.waiting[best].level {
				best = i
			}
		}
		p := r.waiting[best]
		r.waiting = append(r.waiting[:best], r.waiting[best+1:]...)
		left(p, r.free)
		r.free += (p.frame + 24) * 800 // ps at 10 Gbps
	}
}

func (r *reference) arrive(p refPacket, now int64, left func(refPacket, int64)) {
	r.free = max(r.free, now*b2i(len(r.waiting) == 0))
	r.waiting = append(r.waiting, p)
	r.serve(now, left)
}

func (r *reference) bytes(level int) (sum int64) {
	for _, p := range r.waiting {
		if level < 0 || p.level == level {
			sum += p.frame
		}
	}
	return sum
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// A burst of 100 packets, of one priority and of several, and of all sizes, is
// queued, ordered, marked and dropped packet by packet as worked out by hand:
// strictly by priority, marked when at least the step waits in all levels,
// dropped when its own is full.
func TestBurstIsServedMarkedAndDroppedAsComputed(t *testing.T) {
	for name, c := range map[string]struct {
		levels, prios int
		mark, limit   units.Bytes
		sizes         bool
	}{
		"one level":             {levels: 1, prios: 8, mark: 30000},
		"eight levels":          {levels: 8, prios: 8, mark: 8000},
		"three levels":          {levels: 3, prios: 8, mark: 30000},
		"mixed sizes":           {levels: 2, prios: 2, mark: 20000, sizes: true},
		"full":                  {levels: 1, prios: 1, limit: 60000},
		"full, several, marked": {levels: 4, prios: 8, mark: 4000, limit: 8000, sizes: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 1))
			tune := func(n int, p *transport.Packet) {
				p.Priority = uint8(r.IntN(c.prios))
				p.ECT = r.IntN(10) > 0
				if c.sizes {
					p.PayloadLen = r.IntN(p.PayloadLen) + 1 // the message is never completed
				}
			}
			n := transport.Network{Priorities: c.levels, MarkCore: c.mark}
			s, slow, events := burst(t, n, c.limit, 100, tune)

			var ref reference
			var sent []int64 // starts by the reference, in order
			var sizes []int64
			left := func(p refPacket, at int64) { sent, sizes = append(sent, at), append(sizes, p.frame) }
			marks, drops, seen, started, maxQueue := int64(0), int64(0), 0, 0, int64(0)
			for _, e := range events {
				switch e.Kind {
				case Transmitted:
					ref.serve(e.PS, left)
					if started >= len(sent) || sent[started] != e.PS || sizes[started] != frameOf(e.Packet) {
						t.Fatalf("transmission %d at %d ps differs", started, e.PS)
					}
					started++
				case Enqueued, Dropped:
					ref.serve(e.PS, left)
					p := refPacket{seen, min(int(e.Packet.Priority), c.levels-1), frameOf(e.Packet)}
					seen++
					full := c.limit > 0 && ref.bytes(p.level)+p.frame > int64(c.limit)
					if full != (e.Kind == Dropped) {
						t.Fatalf("packet %d: %v with %d waiting in its level", p.n, e.Kind, ref.bytes(p.level))
					}
					if full {
						drops++
						continue
					}
					mark := c.mark > 0 && e.Packet.ECT && ref.bytes(-1) >= int64(c.mark)
					if mark != e.Packet.CE || int64(e.Queue) != ref.bytes(-1) {
						t.Fatalf("packet %d: CE %v with %d waiting, want %v with %d", p.n, e.Packet.CE, e.Queue, mark,
							ref.bytes(-1))
					}
					marks += b2i(mark)
					ref.arrive(p, e.PS, left)
					maxQueue = max(maxQueue, ref.bytes(-1))
				}
			}
			got := s.Port(slow.ID)
			if got.Marks != marks || got.Drops != drops || s.Queue(slow.ID).Max != units.Bytes(maxQueue) {
				t.Errorf("%+v, max %v; want %d marks, %d drops, max %d", got, s.Queue(slow.ID).Max, marks, drops,
					maxQueue)
			}
			if c.mark > 0 && (marks == 0 || marks == 100) || c.limit > 0 && drops == 0 {
				t.Errorf("%d marks and %d drops show nothing", marks, drops)
			}
		})
	}
}

func frameOf(p *transport.Packet) int64 {
	q := packet{Packet: *p}
	q.stamp(0)
	return q.frame()
}

// Full packets arrive every 123.04 ns and leave every 1230.4 ns, so the number
// that waits, and with it which packet is the first to be marked, follows
// directly.
func TestFirstMarkOfABurst(t *testing.T) {
	for _, step := range []int{1, 2, 10, 50} { // packets waiting
		_, _, events := burst(t, transport.Network{Priorities: 1, MarkCore: units.Bytes(step * 1514)}, 0, 100, nil)
		first, n := -1, 0
		for _, e := range events {
			if e.Kind == Enqueued {
				if e.Packet.CE && first < 0 {
					first = n
				}
				n++
			}
		}
		// Packet n finds the n before it, less the 1+floor(n/10) that have begun to
		// leave by then.
		want := 0
		for want-1-want/10 < step {
			want++
		}
		if first != want {
			t.Errorf("step %d: packet %d is the first marked, want %d", step, first, want)
		}
	}
}

// Time-weighted mean and maximum of a queue against its samples by packet.
func TestQueueMean(t *testing.T) {
	s, slow, events := burst(t, transport.Network{Priorities: 1}, 0, 50, nil)
	var area, waiting, last int64
	for _, e := range events {
		if e.Kind == Enqueued || e.Kind == Transmitted {
			area += waiting * (e.PS - last)
			last = e.PS
		}
		switch e.Kind {
		case Enqueued:
			waiting += frameOf(e.Packet)
		case Transmitted:
			waiting -= frameOf(e.Packet)
		}
	}
	want := float64(area) / 1e10 // 10 ms
	if got := s.Queue(slow.ID); got.Mean < want*0.999999 || got.Mean > want*1.000001 || got.Bytes != 0 {
		t.Errorf("%+v, want a mean of %v", got, want)
	}
	if leaf := s.NodeQueue(slow.Node); leaf != s.Queue(slow.ID) {
		t.Errorf("the leaf's queue %+v is not that of its only busy port", leaf)
	}
	s.ResetQueues()
	s.Run(s.Now() + units.Millisecond)
	if got := s.Queue(slow.ID); got.Max != 0 || got.Mean != 0 {
		t.Errorf("after a reset and an idle time: %+v", got)
	}
}
