package virtual

import (
	"fmt"
	"io"
	"testing"

	"sirdbed/emu/model"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// What splitting is reckoned with, from BenchmarkVirtual: a packet and port by one guest,
// and a meeting of guests that all have a processor, by the wall clock.
const (
	hopCost  = 18.0 // us
	meetCost = 20.0 // us
)

// BenchmarkSplit is what numbers of guests would give that a machine need not have the
// processors for: the model says which ports send what in each quantum, at half load of WKc
// in the steady state, and the guest with the most of it is the one that others wait for.
// parallel is how many times as fast as one guest that is, were meetings free; with-meetings
// is with their cost; busiest is the busiest guest's part of all packets, times their number.
//
//	go test ./emu/virtual -run '^$' -bench Split -benchtime 1x
func BenchmarkSplit(b *testing.B) {
	for _, fabric := range []struct {
		leaves, perLeaf, spines int
		from, until             units.Time
		guests                  []int
	}{
		{9, 16, 4, 6 * units.Millisecond, 7 * units.Millisecond, []int{2, 4, 9}},
		{40, 25, 8, 3 * units.Millisecond, 3200 * units.Microsecond, []int{2, 4, 9, 16, 40}},
	} {
		f, err := topo.New(topo.Spec{Leaves: fabric.leaves, Spines: fabric.spines, HostsPerLeaf: fabric.perLeaf,
			HostRate: 100 * units.Gbps, CoreRate: 400 * units.Gbps, HostDelay: 1250, CoreDelay: 500, MTU: 1500})
		if err != nil {
			b.Fatal(err)
		}
		parts := make([]part, len(fabric.guests))
		for i, n := range fabric.guests {
			if parts[i].guest, err = split(f, n); err != nil {
				b.Fatal(err)
			}
			parts[i].ahead = lookahead(f, parts[i].guest)
			parts[i].quantum, parts[i].all = make([]int, n), make([]int, n)
		}
		b.Run(fmt.Sprintf("hosts=%d", len(f.Hosts)), func(b *testing.B) {
			for range b.N {
				packets(b, f, fabric.from, fabric.until, func(port *topo.Port, at units.Time) {
					for i := range parts {
						parts[i].sent(parts[i].guest[port.Node], at)
					}
				})
			}
			b.ReportMetric(0, "ns/op")
			for i := range parts {
				parts[i].report(b)
			}
		})
	}
}

// packets calls sent with all that ports send from a time until another.
func packets(b *testing.B, f *topo.Fabric, from, until units.Time, sent func(*topo.Port, units.Time)) {
	s, err := model.New(model.Config{
		Fabric: f, Protocol: sird.Protocol, Params: sird.Protocol.DefaultParams(f), Seed: 1, From: from,
		Streams: []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Sizes: "wkc", Load: 0.5}},
		Log:     func(topo.HostID) io.Writer { return io.Discard },
		OnPacket: func(e model.PacketEvent) {
			if e.Kind == model.Transmitted && e.At >= from {
				sent(e.Port, e.At)
			}
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	s.Run(until)
}

// A part is a fabric split over guests, and what they have sent.
type part struct {
	guest   []int // by node
	ahead   units.Time
	end     units.Time // of the quantum
	quanta  int
	quantum []int // packets of it, by guest
	most    int   // those of the busiest guest of each quantum, summed
	all     []int // packets, by guest
}

// sent counts a packet.
func (p *part) sent(guest int, at units.Time) {
	if at >= p.end {
		p.close()
		p.end = at + p.ahead
	}
	p.quantum[guest]++
}

// close ends a quantum.
func (p *part) close() {
	most := 0
	for g, n := range p.quantum {
		most, p.quantum[g] = max(most, n), 0
		p.all[g] += n
	}
	p.most += most
	p.quanta++
}

// report reports what the guests would give.
func (p *part) report(b *testing.B) {
	p.close()
	sum, busiest := 0, 0
	for _, n := range p.all {
		sum, busiest = sum+n, max(busiest, n)
	}
	n := len(p.quantum)
	one := float64(sum) * hopCost
	b.ReportMetric(float64(sum)/float64(p.most), fmt.Sprintf("parallel-%d", n))
	b.ReportMetric(one/(float64(p.most)*hopCost+float64(p.quanta)*meetCost), fmt.Sprintf("with-meetings-%d", n))
	b.ReportMetric(float64(busiest)*float64(n)/float64(sum), fmt.Sprintf("busiest-%d", n))
	b.ReportMetric(float64(sum)/float64(p.quanta), fmt.Sprintf("packets/quantum-%d", n))
}
