package model

import (
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

const creditShare = 84.0 / (84 + 1538)

var creditNetwork = transport.Network{Priorities: 1, CreditClass: true, CreditQueue: 8, CreditShare: creditShare}

// creditFlood has host 0 send minimal credits faster than its uplink's class
// lets through, with data behind them or none.
func creditFlood(t *testing.T, count int, dataEvery int) (s *Sim, starts []PacketEvent) {
	t.Helper()
	f := paperFabric(t, rack(2))
	answer := func(n int, p *transport.Packet) {
		p.Credit = dataEvery == 0 || n%dataEvery != 0
		if p.Credit {
			p.HeaderBytes[0], p.HeaderLen, p.PayloadLen = fakeAnswer, fakeAckLen, 0
		}
	}
	s = newSim(t, Config{
		Fabric: f, Network: &creditNetwork, Params: &fakeParams{Tune: answer},
		Sends: []Send{{Dst: 1, Size: units.Bytes(count) * 1448}},
		OnPacket: func(e PacketEvent) {
			if e.Kind == Transmitted && e.Port == f.Uplink(0) {
				p := *e.Packet
				e.Packet = &p
				starts = append(starts, e)
			}
		},
	})
	s.Run(10 * units.Millisecond)
	conserved(t, s)
	return s, starts
}

// Two credits go at once, then one per 84 bytes at the class's rate; eight more
// wait, and the rest of the burst is dropped and counted apart.
func TestCreditClassKeepsItsRate(t *testing.T) {
	s, starts := creditFlood(t, 100, 0)
	up := s.Port(s.fabric.Uplink(0).ID)
	if len(starts) != 10 || up.CreditDrops != 90 || up.Drops != 0 {
		t.Fatalf("%d credits left, %+v: want 10, and 90 credits dropped", len(starts), up)
	}
	rate := float64(100*units.Gbps) * creditShare
	for i, e := range starts {
		want := int64(6720 * i)
		if i >= 2 {
			want = int64(float64(i-1) * 84 * 8 / rate * 1e12)
		}
		if d := e.PS - want; d < -100 || d > 100 {
			t.Errorf("credit %d at %d ps, want %d", i, e.PS, want)
		}
	}
}

// Credits that have tokens go ahead of data; data fills the link while they
// have none; together they fill the link.
func TestCreditsGoFirstAndDataFillsTheLink(t *testing.T) {
	s, starts := creditFlood(t, 4000, 2)
	var credits, data, wire int64
	for i, e := range starts {
		if e.Packet.Credit {
			credits += 84
		} else {
			data++
		}
		if i > 0 && i < len(starts)-10 {
			if gap := e.PS - starts[i-1].PS - 80*wire; gap != 0 {
				t.Fatalf("packet %d: the link idles for %d ps, want 0", i, gap)
			}
		}
		wire = int64(e.Packet.WireLen())
	}
	if data != 2000 {
		t.Errorf("%d data packets, want 2000: %+v", data, s.Port(s.fabric.Uplink(0).ID))
	}
	span := float64(starts[len(starts)-11].PS) / 1e12
	if share := float64(credits*8) / span / 1e11; share < creditShare*0.99 || share > creditShare*1.02 {
		t.Errorf("credits took %.4f of the link, want %.4f", share, creditShare)
	}
}

// A port without the class treats credits as any packet.
func TestNoCreditClass(t *testing.T) {
	f := paperFabric(t, rack(2))
	s := newSim(t, Config{Fabric: f, Params: &fakeParams{Tune: func(_ int, p *transport.Packet) { p.Credit = true }},
		Sends: []Send{{Dst: 1, Size: 100 * 1448}}})
	s.Run(units.Millisecond)
	conserved(t, s)
	if got := s.Host(1).Counts().Received; got != 100 {
		t.Errorf("%d received, want 100", got)
	}
}

// Tokens are those of the port's own link: a core port lets four times as many
// credits through.
func TestCreditRateFollowsTheLink(t *testing.T) {
	f := paperFabric(t)
	for _, p := range []*topo.Port{f.Uplink(0), &f.Ports[f.Nodes[f.LeafOf(0)].Ports[16]]} {
		c := newCreditClass(creditNetwork, p.Rate)
		if want := float64(p.Rate) * creditShare; float64(c.rate) < want-1 || float64(c.rate) > want+1 {
			t.Errorf("%s: %v, want %v", p.Name, c.rate, want)
		}
	}
}
