package model

import (
	"fmt"
	"testing"

	"sirdbed/emu/internal/conformance"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// The paper's parameter table gives 5.5 us in rack and 7.5 us across; these are
// the same to the digit.
func TestRoundTripsOfThePaper(t *testing.T) {
	f := paperFabric(t)
	full := int(wire.MSS(f.Spec.MTU, fakeAckLen))
	for _, c := range conformance.RoundTrips {
		dst, answer, want := topo.HostID(1), full, units.Time((c.PS+500)/1000)
		if c.Across {
			dst = 143
		}
		if c.Reply < 1514 {
			answer = -1
		}
		var at units.Time
		var ps int64
		s := newSim(t, Config{
			Fabric: f,
			Params: &fakeParams{Answer: answer, Got: func(now transport.Time, p *transport.Packet) {
				if p.Header()[0] == fakeAnswer {
					at = now
				}
			}},
			Sends: []Send{{Src: 0, Dst: dst, Size: wire.MSS(f.Spec.MTU, fakeDataLen)}},
			OnPacket: func(e PacketEvent) {
				if e.Dst == 0 && e.Kind == Arrived && e.Port == f.Downlink(0) {
					ps = e.PS
				}
			},
		})
		s.Run(units.Millisecond)
		if at != want || ps != c.PS {
			t.Errorf("%s: %v at the host, %d ps on the wire; want %v, %d", c.Name, at, ps, want, c.PS)
		}
	}
}

// A message over an idle fabric takes exactly what topo says it does.
func TestUnloadedLatencyIsTopos(t *testing.T) {
	for _, mtu := range []units.Bytes{1500, 9000, 9216} {
		f := paperFabric(t, func(s *topo.Spec) { s.MTU = mtu })
		fr := topo.Framing{MSS: wire.MSS(mtu, fakeDataLen), Overhead: wire.IPOverhead + fakeDataLen}
		for _, at := range []units.Time{0, 1, 12345} {
			for _, dst := range []topo.HostID{1, 143} {
				for _, size := range []units.Bytes{1, 8, 1448, 1449, 100000, 10000000} {
					s := newSim(t, Config{Fabric: f, Sends: []Send{{At: at, Dst: dst, Size: size}}})
					s.Run(2 * units.Millisecond)
					m := s.Messages()[0]
					if want := f.UnloadedExact(0, dst, size, fr); m.Latency() != want {
						t.Errorf("MTU %v, %v to %s at %v: %v, want %v", mtu, size, f.HostName(dst), at, m.Latency(),
							want)
					}
				}
			}
		}
	}
}

// Packets leave a host, and every port on the way, back to back to the
// picosecond, beginning with the first two, and also when the first one goes at
// a time that is no whole nanosecond.
func TestPacketsAreSpacedExactly(t *testing.T) {
	const count = 500
	for _, payload := range []int{1, 100, 777, 1448, 8948} {
		f := paperFabric(t, func(s *topo.Spec) { s.MTU = 9000 })
		w := int64(wire.WireLen(fakeDataLen, payload))
		for _, trigger := range []int{0, 1, 7, 13} { // wire bytes more shift the start by 80 ps each
			t.Run(fmt.Sprintf("%dB/%d", w, trigger), func(t *testing.T) {
				var starts []int64
				arrivals := map[string][]int64{}
				var s *Sim
				begun := false
				s = newSim(t, Config{
					Fabric: f,
					Params: &fakeParams{MSS: payload, Got: func(_ transport.Time, p *transport.Packet) {
						if p.Peer == 1 && !begun {
							begun = true
							s.Host(0).Offer(s.Now(), 143, units.Bytes(count*payload), 0)
						}
					}},
					// Host 0 begins when this has arrived.
					Sends: []Send{{Src: 1, Dst: 0, Size: units.Bytes(60 + trigger)}},
					OnPacket: func(e PacketEvent) {
						switch {
						case e.Src != 0:
						case e.Kind == Transmitted && e.Port == f.Uplink(0):
							starts = append(starts, e.PS)
						case e.Kind == Arrived:
							arrivals[e.Port.Name] = append(arrivals[e.Port.Name], e.PS)
						}
					},
				})
				s.Run(units.Millisecond)
				arrivals["starts"] = starts
				if len(arrivals) != 5 {
					t.Fatalf("saw %d hops, want 5", len(arrivals))
				}
				for at, list := range arrivals {
					if len(list) != count {
						t.Fatalf("%s: %d packets, want %d", at, len(list), count)
					}
					for i := range list {
						if want := list[0] + int64(i)*w*80; list[i] != want {
							t.Fatalf("%s: packet %d at %d ps, want %d", at, i, list[i], want)
						}
					}
				}
				if q := s.Queue(f.Uplink(0).ID); q.Max != 0 {
					t.Errorf("%v waited at the NIC, want nothing", q.Max)
				}
			})
		}
	}
}

// A link of a rate whose bytes last no whole number of ps keeps it too.
func TestOddRates(t *testing.T) {
	f := paperFabric(t, rack(3), func(s *topo.Spec) { s.HostRate = 30 * units.Gbps })
	var last int64
	s := newSim(t, Config{Fabric: f, Sends: []Send{{Src: 0, Dst: 2, Size: 1448 * 3000}}, OnPacket: func(e PacketEvent) {
		if e.Kind == Arrived && e.Port == f.Downlink(2) {
			last = e.PS
		}
	}})
	s.Run(2 * units.Millisecond)
	want := 2*1250000 + 3001*1538*8*1000/30 // ps
	if diff := last - int64(want); diff < -3001 || diff > 3001 {
		t.Errorf("last packet at %d ps, want %d", last, want)
	}
}

// Wherever packets go, and however late, no host's clock runs backwards and
// arrival times are never ahead of it by more than the rounding.
func TestHostClocksNeverRunBackwards(t *testing.T) {
	f := paperFabric(t, func(s *topo.Spec) { s.Leaves, s.HostsPerLeaf = 3, 4 })
	s := newSim(t, Config{Fabric: f, Sends: mesh(f, 40, 30000)})
	for h := range s.hosts {
		last := units.Time(-1)
		s.hosts[h].core.Transport().(*fake).params = &fakeParams{Answer: 33,
			Got: func(now transport.Time, p *transport.Packet) {
				if now < last || p.Arrived > now || p.Arrived < now-2 {
					t.Errorf("now %d after %d, arrived %d: want neither earlier, nor arrivals ahead", now, last,
						p.Arrived)
				}
				last = now
			}}
	}
	s.Run(10 * units.Millisecond)
	s.Drain()
	conserved(t, s)
	if got := s.Totals().Delivered; got != int64(len(mesh(f, 40, 30000))) {
		t.Errorf("%d delivered, want %d", got, len(mesh(f, 40, 30000)))
	}
}

// mesh is n messages from each host to others in turn, in the first 100 us.
func mesh(f *topo.Fabric, n int, size units.Bytes) (list []Send) {
	for h := range f.Hosts {
		for i := range n {
			dst := (h + 1 + (7*i+h)%(len(f.Hosts)-1)) % len(f.Hosts)
			list = append(list, Send{units.Time(i * 100000 / n), topo.HostID(h), topo.HostID(dst), size +
				units.Bytes(13*i), 0})
		}
	}
	return list
}
