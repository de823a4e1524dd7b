package homa_test

import (
	"testing"

	"sirdbed/baselines/homa"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Messages up to RTTbytes, and the first RTTbytes of longer ones, are sent at
// line rate without a grant (Homa paper, section 3.2; README, Unscheduled
// data).
func TestUnscheduledBytesGoAtOnce(t *testing.T) {
	f := rack(t, 2)
	for _, size := range []units.Bytes{1, 8, mss, mss + 1, 50_000, 99_999, 100_000} {
		grants := 0
		sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: size}},
			OnPacket: func(e model.PacketEvent) {
				if hd, ok := leavesHost(f, e); ok && hd.Kind == "GRANT" {
					grants++
				}
			}})
		modeltest.AllDone(t, f, sim, units.Millisecond)
		want := f.UnloadedExact(0, 1, size, homa.Protocol.Framing(f.Spec.MTU))
		if got := sim.Messages()[0].Latency(); grants != 0 || got < want-1 || got > want+1 {
			t.Errorf("%v: %v with %d grants, want %v with none", size, got, grants, want)
		}
	}
}

// One grant is for one packet, and grants are paced by the wire time of the
// packet granted (README, Grants). A lone long message runs at line rate.
func TestOneGrantOnePacketPacedByItsWireTime(t *testing.T) {
	f := rack(t, 2)
	const size = 1000*mss + 10
	var last, lastData units.Time
	grants, offset, scheduled := 0, uint32(window), 0
	sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: size}},
		OnPacket: func(e model.PacketEvent) {
			hd, ok := leavesHost(f, e)
			switch {
			case !ok:
			case hd.Kind == "GRANT":
				if hd.Offset != min(size, offset+mss) || e.Packet.WireLen() != 84 {
					t.Fatalf("%+v of %d wire bytes follows %d", hd, e.Packet.WireLen(), offset)
				}
				if gap := e.At - last; grants > 0 && gap < 122 {
					t.Fatalf("grant %d comes %v after the one before", grants, gap)
				}
				offset, last = hd.Offset, e.At
				grants++
			case hd.Kind == "DATA" && hd.Offset >= window:
				if scheduled++; scheduled > grants {
					t.Fatalf("%d scheduled packets after %d grants", scheduled, grants)
				}
				lastData = e.At
			}
		}})
	modeltest.AllDone(t, f, sim, units.Millisecond)
	if grants != 1001-69 || scheduled != grants {
		t.Errorf("%d grants, %d scheduled packets, want %d", grants, scheduled, 1001-69)
	}
	// The loop of this rack is just below RTTbytes, so there is no gap.
	if want := f.Uplink(0).Rate.TimeFor(1000 * frame); lastData > want+want/100 {
		t.Errorf("the last packet leaves at %v, at line rate %v", lastData, want)
	}
}

// Grants to a sender are paced even if a whole window is free at once, because
// its message waited for a place among the k while its unscheduled bytes
// arrived.
func TestGrantsOfAFreeWindowArePaced(t *testing.T) {
	f := rack(t, 3)
	h := newCore(t, f, 2, params(f, func(p *homa.Params) { p.Overcommitment = 1 }))
	h.get(0, 0, homa.Header{Kind: "DATA", Length: 70 * mss, Unscheduled: 69}, mss)
	for i := range uint32(69) {
		h.get(0, 1, homa.Header{Kind: "DATA", Length: 1000 * mss, Unscheduled: 69, Offset: i * mss}, mss)
	}
	granted := 0
	for now := range units.Time(5000) {
		for p, hd, ok := h.next(now); ok; p, hd, ok = h.next(now) {
			if hd.Kind == "GRANT" && p.Peer == 1 {
				granted++
			}
		}
		// Two may leave at once: one that was due, and one that makes up for
		// the time that the NIC may delay it.
		if most := 2 + int(now*1000/123_040); granted > most {
			t.Fatalf("%d grants within %v, want at most %d", granted, now, most)
		}
	}
	if granted < 5000/124 {
		t.Errorf("%d grants in 5 us", granted)
	}
}

// A busy uplink delays grants but does not slow them down: with data in both
// directions, both stay full.
func TestGrantsKeepTheirRateBesideData(t *testing.T) {
	f := rack(t, 2)
	sim := newSim(t, model.Config{Fabric: f, From: 200_000, To: 700_000,
		Sends: []model.Send{{Src: 0, Dst: 1, Size: 20_000_000}, {Src: 1, Dst: 0, Size: 20_000_000}}})
	sim.Run(700_000)
	for _, h := range []topo.HostID{0, 1} {
		// A grant of 84 bytes takes its part of the uplink per packet.
		got := float64(sim.Host(h).Counts().WindowPayload) * 8 / 500_000
		if want := 100.0 * mss / (frame + 84); got < 0.97*want {
			t.Errorf("%.1f Gbps arrive, want %.1f", got, want)
		}
	}
}
