package sird_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sirdbed/emu/effort"
	"sirdbed/sirdnode/sird"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A town is hosts that restart, on a network that loses, repeats and reorders packets. Every
// message has a tag of its own.
type town struct {
	fabric *topo.Fabric
	params *sird.Params
	rng    *rand.Rand
	faults float64 // share of packets lost, repeated, and late

	now      units.Time
	hosts    []*citizen
	flying   []flight // by arrival, the next last
	troubled []span
	offered  []offer // by tag
}

// A citizen is a life of a host.
type citizen struct {
	*sird.SIRD
	town *town
	id   topo.HostID
	life transport.Incarnation
	next map[topo.HostID]transport.MessageID

	nobody      // gauges
	suspensions int64
	bytes       map[transport.Tag]units.Bytes
}

type nobody struct{}

func (nobody) Gauge(string, func() float64) {}

// An offer is a message, and what became of it.
type offer struct {
	by        *citizen
	delivered []*citizen // by which lives
	acked     int
	failed    string
}

type flight struct {
	at       units.Time
	src, dst topo.HostID
	p        transport.Packet
}

func newTown(t testing.TB, hosts int, seed uint64, faults float64, change func(*sird.Params)) *town {
	f := rack(t, hosts)
	w := &town{fabric: f, rng: rand.New(rand.NewPCG(seed, 9)), faults: faults, params: params(f, func(p *sird.Params) {
		if p.LossTimeout, p.MaxResends = 100*units.Microsecond, 12; change != nil {
			change(p)
		}
	})}
	for h := range f.Hosts {
		w.hosts = append(w.hosts, nil)
		w.restart(t, topo.HostID(h))
	}
	return w
}

// restart begins a new life of a host.
func (w *town) restart(t testing.TB, h topo.HostID) {
	t.Helper()
	c := &citizen{town: w, id: h, life: 1, next: map[topo.HostID]transport.MessageID{},
		bytes: map[transport.Tag]units.Bytes{}}
	if before := w.hosts[h]; before != nil {
		c.life = before.life + 1
	}
	var err error
	c.SIRD, err = sird.New(transport.Env{Self: h, Fabric: w.fabric, Sink: c, Incarnation: c.life,
		Rand: rand.New(rand.NewPCG(uint64(c.life), uint64(h)))}, w.params)
	if err != nil {
		t.Fatal(err)
	}
	w.hosts[h] = c
}

// send has a host send a message.
func (w *town) send(src, dst topo.HostID, size units.Bytes) {
	c := w.hosts[src]
	tag := transport.Tag(len(w.offered))
	w.offered = append(w.offered, offer{by: c})
	c.Send(w.now, transport.Message{ID: c.next[dst], Tag: tag, Peer: dst, Size: size})
	c.next[dst]++
}

func (c *citizen) Count(of *transport.Counter, n int) {
	if of.Name == "credit_suspensions" {
		c.suspensions += int64(n)
	}
}

func (c *citizen) Data(_ units.Time, m transport.Message, _ units.Bytes, n int, _ []byte) {
	if c.bytes[m.Tag] += units.Bytes(n); c.bytes[m.Tag] > m.Size {
		panic("bytes handed over twice")
	}
}

func (c *citizen) Delivered(_ units.Time, m transport.Message) {
	o := &c.town.offered[m.Tag]
	if c.bytes[m.Tag] != m.Size || o.by.id != m.Peer {
		panic("delivered with other bytes than its own")
	}
	o.delivered = append(o.delivered, c)
}

func (c *citizen) Acked(_ units.Time, m transport.Message) { c.town.offered[m.Tag].acked++ }

func (c *citizen) Failed(_ units.Time, m transport.Message, reason string) {
	c.town.offered[m.Tag].failed += reason
}

// run lets time pass, a packet's worth at a time.
func (w *town) run(until units.Time) {
	var p transport.Packet
	for ; w.now < until; w.now += 123 {
		for len(w.flying) > 0 && w.flying[len(w.flying)-1].at <= w.now {
			f := w.flying[len(w.flying)-1]
			w.flying = w.flying[:len(w.flying)-1]
			if w.paused(f.dst) {
				f.at = w.now + 123
				w.fly(f)
				continue
			}
			f.p.Peer = f.src
			w.hosts[f.dst].Receive(w.now, &f.p)
		}
		for _, c := range w.hosts {
			p = transport.Packet{}
			awake := c.Wake() <= w.now
			if w.still(c.id) || !awake && w.now/123%16 != 0 || !c.Next(w.now, &p) {
				continue
			}
			if !awake {
				panic("it has something to send, and would sleep")
			}
			w.carry(c.id, &p)
		}
	}
}

func (w *town) carry(src topo.HostID, p *transport.Packet) {
	copies := 1
	if w.rng.Float64() < w.faults {
		copies = 2 * w.rng.IntN(2)
	}
	for range copies {
		for _, at := range w.suffer(src, p.Peer) {
			if w.rng.Float64() < w.faults {
				at += units.Time(w.rng.IntN(20_000))
			}
			w.fly(flight{at, src, p.Peer, *p})
		}
	}
}

// fly has a packet arrive in its time, after those of the same time.
func (w *town) fly(f flight) {
	i, _ := slices.BinarySearchFunc(w.flying, f.at, func(f flight, at units.Time) int {
		if f.at >= at {
			return -1
		}
		return 1
	})
	for i > 0 && w.flying[i-1].at == f.at {
		i--
	}
	w.flying = slices.Insert(w.flying, i, f)
}

// sums describes what does not add up: at a host, or credit between two; "" if all does.
func (w *town) sums() string {
	for _, c := range w.hosts {
		if excess := c.Excess(c.suspensions); c.Broken() != "" || excess > 0 {
			return fmt.Sprintf("host %d at %v: %d of credit too much: %s", c.id, w.now, max(0, excess), c.Broken())
		}
		for _, o := range w.hosts {
			if minted := sird.Minted(c.SIRD, o.SIRD); o != c && minted != "" {
				return fmt.Sprintf("at %v: %s", w.now, minted)
			}
		}
	}
	return ""
}

// check expects each message of a life that goes on to have one outcome, and none to have been
// delivered twice to one life, and nothing to be kept.
func (w *town) check(t *testing.T, seed uint64) {
	t.Helper()
	for tag, o := range w.offered {
		lives := map[*citizen]bool{}
		for _, c := range o.delivered {
			if lives[c] {
				t.Fatalf("seed %d: message %d delivered twice to a life", seed, tag)
			}
			lives[c] = true
		}
		if outcomes := o.acked + min(1, len(o.failed)); o.by == w.hosts[o.by.id] && outcomes != 1 {
			t.Fatalf("seed %d: message %d: %d acknowledgements, failed %q", seed, tag, o.acked, o.failed)
		}
		if o.acked > 1 || o.acked == 1 && len(o.delivered) == 0 {
			t.Fatalf("seed %d: message %d acknowledged %d times, delivered %d", seed, tag, o.acked, len(o.delivered))
		}
	}
	for _, c := range w.hosts {
		if leak := c.Leaks() + c.Broken(); leak != "" {
			t.Fatalf("seed %d: host %d: %s", seed, c.id, leak)
		}
	}
}

// README, Restarts: a sender that restarts begins its ids anew, and is served as if it had
// never been there.
func TestRestartedSenderIsServed(t *testing.T) {
	w := newTown(t, 3, 1, 0, nil)
	w.send(1, 0, 300_000)
	w.send(1, 0, 8)
	w.send(1, 0, 5_000_000)
	w.send(2, 0, 20_000_000)
	w.run(200 * units.Microsecond)
	w.restart(t, 1)
	w.send(1, 0, 50_000)
	w.send(1, 0, 700_000)
	w.send(1, 0, 8)
	begun := w.now
	for tag := transport.Tag(4); tag < 7; tag++ {
		for o := &w.offered[tag]; o.acked == 0; {
			if w.run(w.now + 1000); w.now > begun+300*units.Microsecond {
				t.Fatalf("message %d of the new life is not acknowledged in 300 us, but failed %q", tag, o.failed)
			}
			if out := w.hosts[0].InFlight(1); out > w.params.BDP {
				t.Fatalf("%d of credit out to a sender", out)
			}
		}
	}
	w.run(w.now + 20*units.Millisecond)
	w.check(t, 1)
	if w.offered[3].acked != 1 {
		t.Errorf("the other sender's message has failed: %q", w.offered[3].failed)
	}
}

// README, Restarts: messages that a receiver's last life may have had fail at once, and their
// sender is told why; the rest goes to the new life, and so do others' messages.
func TestMessagesToARestartedReceiverFail(t *testing.T) {
	w := newTown(t, 3, 1, 0, nil)
	w.send(1, 0, 5_000_000)
	w.send(2, 0, 8)
	w.send(2, 0, 3_000_000)
	w.send(0, 2, 3_000_000) // of the host that restarts
	w.run(100 * units.Microsecond)
	w.restart(t, 0)
	at := w.now
	// One sender has credit and sends at once, the other announces its message again.
	for tag, after := range map[int]units.Time{2: 20 * units.Microsecond, 0: 700 * units.Microsecond} {
		for o := &w.offered[tag]; o.failed == "" && w.now < at+after; {
			w.run(w.now + 1000)
		}
		if o := w.offered[tag]; !strings.Contains(o.failed, "restarted: the outcome is unknown") {
			t.Errorf("message %d, %v after the restart: failed %q, want for the restart", tag, w.now-at, o.failed)
		}
	}
	w.send(1, 0, 400_000)
	w.send(2, 0, 400_000)
	w.run(w.now + 150*units.Microsecond)
	for tag := 4; tag < 6; tag++ {
		if o := w.offered[tag]; o.acked != 1 || len(o.delivered) != 1 {
			t.Errorf("message %d to the new life: %d acknowledgements, failed %q", tag, o.acked, o.failed)
		}
	}
	if o := w.offered[1]; o.acked != 1 {
		t.Errorf("a message that was delivered before has failed: %q", o.failed)
	}
	w.run(w.now + 20*units.Millisecond)
	w.check(t, 1)
}

// Exactly once is per incarnation, whatever is lost, repeated or late, and whoever restarts.
func TestExactlyOncePerIncarnation(t *testing.T) {
	for seed := range uint64(effort.Count(t, "SIRDBED_SEEDS", 60)) {
		r := rand.New(rand.NewPCG(seed, 8))
		w := newTown(t, 4, seed, []float64{0, 0.02, 0.1}[r.IntN(3)], nil)
		restarts := 0
		for range 24 {
			src := topo.HostID(r.IntN(4))
			w.send(src, (src+1+topo.HostID(r.IntN(3)))%4, 1+units.Bytes(r.IntN(1<<(4+r.IntN(15)))))
			for until := w.now + units.Time(r.IntN(40_000)); w.now < until; {
				w.run(min(until, w.now+5*units.Microsecond))
				if wrong := w.sums(); wrong != "" {
					t.Fatalf("seed %d: %s", seed, wrong)
				}
			}
			if r.IntN(5) == 0 {
				restarts++
				w.restart(t, topo.HostID(r.IntN(4)))
			}
		}
		w.faults = 0
		w.run(w.now + 8*units.Millisecond)
		for end := w.now + 40*units.Millisecond; w.busy() && w.now < end; {
			w.run(w.now + 2*units.Millisecond)
		}
		w.check(t, seed)
	}
}

// busy reports whether a host keeps anything.
func (w *town) busy() bool {
	return slices.ContainsFunc(w.hosts, func(c *citizen) bool { return c.Leaks() != "" })
}

// README, Restarts: whichever of two lives is heard of first, the one that goes on is the present one,
// and nothing is delivered to it twice.
func TestLatePacketOfAnEarlierLifeIsIgnored(t *testing.T) {
	f := rack(t, 2)
	p := params(f, nil)
	const us = units.Microsecond
	type packet struct {
		at         units.Time
		life       transport.Incarnation
		id         transport.MessageID
		deliveries int // so far
	}
	for name, packets := range map[string][]packet{
		"the present one first": {{0, 2, 0, 1}, {10 * us, 1, 0, 1}, {20 * us, 2, 1, 2},
			{p.LossTimeout + 10*us, 2, 2, 3}, {p.LossTimeout + 20*us, 2, 0, 3}},
		"the earlier one first": {{0, 1, 0, 1}, {10 * us, 2, 0, 1}, {20 * us, 2, 1, 1}, {p.LossTimeout, 2, 1, 2},
			{p.LossTimeout + 10*us, 1, 1, 2}, {3 * p.LossTimeout, 2, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newCore(t, f, 0, p)
			for _, c := range packets {
				h := sird.Header{Kind: "DATA", From: c.life, ID: c.id, Length: 8, Prefix: 1, AboveFloor: 65535}
				s.get(c.at, 1, h, 8, false)
				if n := s.sink.Deliveries; n != c.deliveries {
					t.Errorf("message %d of life %d at %v: %d deliveries, want %d", c.id, c.life, c.at, n, c.deliveries)
				}
			}
		})
	}
}
