package dcpim_test

import (
	"slices"
	"testing"

	"sirdbed/baselines/dcpim"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// README, Full packets: with full_packets each data packet has the size of a full one,
// whatever is left of its message, which arrives whole; without it none has more than that.
func TestFullPackets(t *testing.T) {
	f := rack(t, 2)
	for _, full := range []bool{false, true} {
		for _, size := range []units.Bytes{1, mss - 1, mss, mss + 1, 60*mss + 7} {
			var sent units.Bytes
			packets := 0
			sim := newSim(t, model.Config{
				Fabric: f, Sends: []model.Send{{Dst: 1, Size: size}},
				Params: params(f, func(p *dcpim.Params) { p.FullPackets = full }),
				OnPacket: func(e model.PacketEvent) {
					if h, ok := leavesHost(f, e); ok && h.Kind == "DATA" {
						packets, sent = packets+1, sent+units.Bytes(e.Packet.PayloadLen)
					}
				},
			})
			modeltest.AllDone(t, f, sim, 10*units.Millisecond)
			want := size
			if full {
				want = units.Bytes(packets) * mss
			}
			if sent != want || packets != int((size+mss-1)/mss) {
				t.Errorf("full %v, %v: %d packets with %v, want %v", full, size, packets, sent, want)
			}
			if got := sim.Host(1).Counts().Payload; got != int64(size) {
				t.Errorf("full %v, %v: %d bytes were received", full, size, got)
			}
		}
	}
}

// README, Released order: packets of two short messages of a sender mix, where without it those
// of the one with fewer packets left go first. Both messages arrive.
func TestReleasedOrderMixesShortMessages(t *testing.T) {
	f := rack(t, 3)
	for _, released := range []bool{false, true} {
		var order []topo.HostID // receivers of DATA, in turn
		sim := newSim(t, model.Config{
			Fabric: f,
			Sends:  []model.Send{{Dst: 1, Size: 20 * mss}, {At: units.Microsecond, Dst: 2, Size: 30 * mss}},
			Params: params(f, func(p *dcpim.Params) { p.ReleasedOrder = released }),
			OnPacket: func(e model.PacketEvent) {
				if h, ok := leavesHost(f, e); ok && h.Kind == "DATA" {
					order = append(order, e.Packet.Peer)
				}
			},
		})
		modeltest.AllDone(t, f, sim, 10*units.Millisecond)
		if len(order) != 50 || slices.IsSorted(order) == released {
			t.Errorf("released order %v: receivers %v", released, order)
		}
	}
}
