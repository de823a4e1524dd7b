package modeltest

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"sirdbed/emu/effort"
	"sirdbed/sirdnode/host"
	"sirdbed/sirdnode/record"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// What hostile packets may cost.
const (
	// mostPerPacket is how many packets a host may send at once for one that it got.
	mostPerPacket = 10_000
	// mostTime is how long a host may take over one, on a machine with others.
	mostTime = 30 * time.Second
	// mostMemory is how much the heap may grow by for each.
	mostMemory = 1000
	// round is how many packets hosts get before others take their place.
	round = 50_000
)

// HostilePackets has hosts under load get frames that were made to harm: random
// bytes, real frames with fields replaced, cut or of another sender, and old ones
// again. They take the whole way through checksums, host and transport. Nothing may
// panic, take long, grow without bound, send what no network carries or break what
// the Subject checks. SIRDBED_HOSTILE is how many packets, 20,000 unless given.
func HostilePackets(t *testing.T, s Subject) {
	t.Helper()
	count := effort.Count(t, "SIRDBED_HOSTILE", 20_000)
	began := time.Now()
	intact, err := s.Survives(count)
	if err != nil {
		t.Fatal(err)
	}
	if intact < count/10 {
		t.Errorf("%d of %d packets got past the checksums, want a tenth at least", intact, count)
	}
	t.Logf("%d packets, %d of them intact, %.0f a second", count, intact, float64(count)/time.Since(began).Seconds())
}

// Survives is what HostilePackets checks. It returns how many packets got to a
// transport.
func (s Subject) Survives(count int) (intact int, err error) {
	for seed := uint64(0); int(seed)*round < count; seed++ {
		a, err := newAttack(s, seed)
		if err == nil {
			err = a.run(min(round, count-int(seed)*round))
		}
		if err != nil {
			return intact, fmt.Errorf("seed %d: %w", seed, err)
		}
		intact += a.intact
	}
	return intact, nil
}

// An attack is a few hosts and whoever is between them.
type attack struct {
	subject Subject
	fabric  *topo.Fabric
	rng     *rand.Rand
	hosts   []*host.Host
	now     units.Time

	sent   [256][]byte // real frames, the newest in place of the oldest
	frames int         // sent so far
	buf    []byte      // the frame that arrives
	out    []byte      // one that a host sends
	intact int         // frames that got to a transport
}

func newAttack(s Subject, seed uint64) (*attack, error) {
	spec := Small
	a := &attack{subject: s, rng: rand.New(rand.NewPCG(seed, 77)), buf: make([]byte, 16_384), out: make([]byte, 16_384)}
	var err error
	if a.fabric, err = topo.New(spec); err != nil {
		return nil, err
	}
	streams := []traffic.Stream{
		{Name: "small", Pattern: traffic.PatternPoisson, Sizes: "wka", Rate: 80 * units.Mbps, Reply: 100},
		{Name: "large", Pattern: traffic.PatternFixed, Size: 300_000, Interval: 3 * units.Millisecond},
	}
	for _, id := range a.fabric.Hosts {
		h, err := host.New(host.Config{
			Self: id, Fabric: a.fabric, Protocol: s.Protocol, Params: s.params(a.fabric, a.rng), Streams: streams,
			Seed: seed, To: 60 * units.Second,
		}, record.NewWriter(io.Discard))
		if err != nil {
			return nil, err
		}
		a.hosts = append(a.hosts, h)
	}
	return a, nil
}

// run delivers packets, one after another.
func (a *attack) run(packets int) error {
	before := heap()
	for n := range packets {
		switch a.rng.IntN(1000) {
		case 0:
			a.now += units.Time(a.rng.Int64N(int64(30 * units.Millisecond))) // timeouts expire
		case 1, 2, 3, 4, 5, 6, 7, 8, 9:
			a.now += units.Time(a.rng.Int64N(int64(200 * units.Microsecond)))
		default:
			a.now += units.Time(a.rng.Int64N(1000))
		}
		id := topo.HostID(a.rng.IntN(len(a.hosts)))
		frame := a.frame(id)
		began := time.Now()
		if err := a.deliver(id, frame); err != nil {
			return fmt.Errorf("packet %d, %x at %v: %w", n, frame, a.now, err)
		}
		if took := time.Since(began); took > mostTime {
			return fmt.Errorf("packet %d, %x at %v, took %v: want %v at most", n, frame, a.now, took, mostTime)
		}
	}
	if grown := heap() - before; grown > int64(64<<20+mostMemory*packets) {
		return fmt.Errorf("%d bytes of memory more after %d packets", grown, packets)
	}
	runtime.KeepAlive(a)
	return nil
}

// heap is how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// deliver has a host get a frame, and send what it then wants to.
func (a *attack) deliver(id topo.HostID, frame []byte) error {
	h := a.hosts[id]
	h.Advance(a.now)
	var p transport.Packet
	if a.decode(id, frame, &p) {
		a.intact++
		h.Receive(a.now, &p)
	}
	var out transport.Packet
	for n := 0; h.Next(a.now, &out); n++ {
		if n == mostPerPacket {
			return fmt.Errorf("sends more than %d packets at once", mostPerPacket)
		}
		if err := a.sends(id, &out); err != nil {
			return err
		}
	}
	if wake := h.Wake(); wake < 0 {
		return fmt.Errorf("wakes at %d", int64(wake))
	}
	if a.subject.Check != nil {
		return a.subject.Check(h.Transport())
	}
	return nil
}

// decode reads a frame as engines do.
func (a *attack) decode(self topo.HostID, frame []byte, p *transport.Packet) bool {
	var w wire.Frame
	if err := w.Decode(frame, 1, a.subject.Protocol.Wire.HeaderLen); err != nil {
		return false
	}
	dst, spine, ok := a.fabric.HostOf(w.DstAddr)
	src, _, known := a.fabric.HostOf(w.SrcAddr)
	if w.Port != a.subject.Protocol.Wire.Port || !ok || !known || dst != self || len(w.Header) > transport.MaxHeader {
		return false
	}
	*p = transport.Packet{
		Peer: src, Spine: spine, Entropy: w.Entropy, Priority: w.Priority, Credit: w.Credit, Arrived: a.now,
		ECT: w.ECN != wire.NotECT, CE: w.ECN == wire.CE, Payload: w.Payload, PayloadLen: len(w.Payload),
	}
	p.HeaderLen = copy(p.HeaderBytes[:], w.Header)
	return true
}

// sends checks a packet that a host sends, and keeps its frame.
func (a *attack) sends(id topo.HostID, p *transport.Packet) error {
	switch {
	case p.Peer < 0 || int(p.Peer) >= len(a.fabric.Hosts) || p.Peer == id:
		return fmt.Errorf("sends to host %d", p.Peer)
	case p.PayloadLen < 0 || int(wire.IPOverhead)+p.HeaderLen+p.PayloadLen > int(a.fabric.Spec.MTU):
		return fmt.Errorf("sends %d bytes behind a header of %d", p.PayloadLen, p.HeaderLen)
	case p.Spine < 0 || p.Spine > a.fabric.Spec.Spines:
		return fmt.Errorf("sends over spine %d", p.Spine)
	}
	if n, err := a.subject.Protocol.Wire.HeaderLen(p.Header()); err != nil || n != p.HeaderLen {
		return errors.Join(fmt.Errorf("sends a header of %d bytes that reads as one of %d", p.HeaderLen, n), err)
	}
	w := wire.Frame{
		SrcAddr: a.fabric.HostAddr(id, 0), DstAddr: a.fabric.HostAddr(p.Peer, p.Spine),
		Entropy: wire.SourcePort(p.Entropy), Port: a.subject.Protocol.Wire.Port, Priority: p.Priority,
		ECN: wire.Marking(p.ECT, p.CE), Credit: p.Credit, Header: p.Header(),
	}
	w.Payload = a.out[wire.HeaderOffset+p.HeaderLen:][:p.PayloadLen]
	if p.PayloadLen > 0 {
		host.FillPayload(w.Payload, id, p)
	}
	slot := &a.sent[a.frames%len(a.sent)]
	*slot = append((*slot)[:0], a.out[:w.Encode(a.out)]...)
	a.frames++
	return nil
}
