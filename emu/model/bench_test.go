package model

import (
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

// permutation has every host of the paper's fabric send full packets at line
// rate, without end and sprayed, to the host half the fabric away.
func permutation(t testing.TB, cfg Config) *Sim {
	f := paperFabric(t)
	for h := range f.Hosts {
		cfg.Sends = append(cfg.Sends, Send{Src: f.Hosts[h], Dst: f.Hosts[(h+72)%144], Size: 1 << 31})
	}
	cfg.Fabric = f
	cfg.Params = &fakeParams{Tune: func(n int, p *transport.Packet) { p.Entropy = uint16(n) }}
	s := newSim(t, cfg)
	s.Run(100 * units.Microsecond) // queues and pools have reached their size
	return s
}

// BenchmarkModelHop is the cost of a packet's way through one port and link,
// hosts included: each op is one hop.
func BenchmarkModelHop(b *testing.B) {
	for name, cfg := range map[string]Config{"lengths": {}, "bytes": {Bytes: true}} {
		b.Run(name, func(b *testing.B) {
			s := permutation(b, cfg)
			b.ReportAllocs()
			b.ResetTimer()
			hops := func() int64 { return s.Totals().PortStats.Packets }
			begin := hops()
			for hops()-begin < int64(b.N) {
				s.Run(s.Now() + min(units.Time(1+(int64(b.N)-hops()+begin)/5), 20*units.Microsecond))
			}
			b.ReportMetric(float64(hops()-begin)/b.Elapsed().Seconds(), "hops/s")
		})
	}
}

// No packet allocates anything once pools have grown, neither with lengths nor
// with bytes.
func TestNoAllocationsPerPacket(t *testing.T) {
	for name, cfg := range map[string]Config{"lengths": {}, "bytes": {Bytes: true}} {
		s := permutation(t, cfg)
		before := s.Totals().PortStats.Packets
		allocs := testing.AllocsPerRun(5, func() { s.Run(s.Now() + 20*units.Microsecond) })
		packets := float64(s.Totals().PortStats.Packets-before) / 6
		if allocs > packets/2000 {
			t.Errorf("%s: %v allocations in %v hops", name, allocs, packets)
		}
	}
}
