package homa_test

import (
	"testing"

	"sirdbed/baselines/homa"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Homa paper, section 3.5, and the criticism in the SIRD paper, figure 2: a
// receiver grants k senders at a time, and what they have in flight beyond a
// BDP waits in its downlink's queue: about (k-1) RTTbytes, whatever the number
// of senders.
func TestQueueGrowsWithTheDegreeOfOvercommitment(t *testing.T) {
	const senders = 12
	f := rack(t, senders+1)
	bdp := float64(f.BDP())
	last := -1.0
	for _, k := range []int{1, 2, 3, 5, 7, 10} {
		var sends []model.Send
		for src := range topo.HostID(senders) {
			sends = append(sends, model.Send{Src: src, Dst: senders, Size: 2_000_000})
		}
		open, most := map[topo.HostID]bool{}, 0
		sim := newSim(t, model.Config{Fabric: f, Sends: sends,
			Params: params(f, func(p *homa.Params) { p.Overcommitment = k }),
			OnPacket: func(e model.PacketEvent) {
				if hd, ok := leavesHost(f, e); ok && hd.Kind == "GRANT" {
					open[e.Dst] = true
					if hd.Offset == 2_000_000 {
						delete(open, e.Dst)
					}
					most = max(most, len(open))
				}
			}})
		sim.Run(150_000) // unscheduled bytes have arrived: 12 RTTbytes take 102 us
		sim.ResetQueues()
		sim.Run(300_000) // the first message to be fully granted would take 160 us alone
		queue := sim.Queue(f.Downlink(senders).ID)
		// k RTTbytes are in flight, of which a BDP and a packet in transmission
		// do not wait. Queues count neither preamble nor gap.
		want := (float64(k*window/mss) - bdp/frame - 1) * (frame - 24)
		t.Logf("k %2d: %2d senders granted at a time; queue mean %7.0f, max %7d bytes; k RTTbytes - BDP %7.0f", k, most,
			queue.Mean, queue.Max, want)
		if most != k {
			t.Errorf("k %d: %d senders granted at a time", k, most)
		}
		if queue.Mean < want-2*frame || queue.Mean > want+2*frame || queue.Mean <= last {
			t.Errorf("k %d: a queue of %.0f, want %.0f", k, queue.Mean, want)
		}
		last = queue.Mean
		modeltest.AllDone(t, f, sim, 5*units.Millisecond)
	}
}

// The purpose of overcommitment: when the sender of the shortest message is
// busy elsewhere, the next ones keep the downlink full (Homa paper, figure 16).
func TestOvercommitmentKeepsTheDownlinkFull(t *testing.T) {
	f := rack(t, 10)
	for _, c := range []struct {
		k         int
		low, high float64
	}{{1, 0, 0.01}, {2, 0, 0.01}, {3, 0.99, 1.01}, {7, 0.99, 1.01}} {
		var sends []model.Send
		for src := range topo.HostID(4) {
			long := units.Bytes(20_000_000)
			if src < 2 { // shorter, but their senders have something even shorter
				long = 5_000_000
				sends = append(sends, model.Send{At: 30_000, Src: src, Dst: src + 4, Size: 4_000_000})
			}
			sends = append(sends, model.Send{Src: src, Dst: 9, Size: long})
		}
		sim := newSim(t, model.Config{Fabric: f, Sends: sends,
			Params: params(f, func(p *homa.Params) { p.Overcommitment = c.k }), From: 100_000, To: 300_000})
		sim.Run(300_000)
		got := float64(sim.Host(9).Counts().WindowPayload) * 8 / 200_000 / 100 * frame / mss
		t.Logf("k %d: the downlink is %.2f full", c.k, got)
		if got < c.low || got > c.high {
			t.Errorf("k %d: the downlink is %.2f full, want %.2f to %.2f", c.k, got, c.low, c.high)
		}
	}
}

// What is granted of a message and not received is at most RTTbytes, even where
// packets wait or are lost (README, Grants).
func TestMessageHasAtMostRTTBytesInFlight(t *testing.T) {
	f := modeltest.Fabric(t, modeltest.Small)
	for _, rttBytes := range []units.Bytes{mss, 30_000, 100_000} {
		var sim *model.Sim
		n := 0
		check := func(model.PacketEvent) {
			for _, h := range f.Hosts {
				if got := at(sim, h).MostOutstanding(); got > rttBytes {
					t.Fatalf("rtt_bytes %v: %v in flight", rttBytes, got)
				}
			}
			n++
		}
		sim = newSim(t, model.Config{
			Fabric: f, OnPacket: check, Params: params(f, func(p *homa.Params) { p.RTTBytes = rttBytes }),
			Sends: []model.Send{{Src: 0, Dst: 3, Size: 500_000}, {Src: 1, Dst: 3, Size: 100_000},
				{Src: 2, Dst: 3, Size: 99_999},
				{At: 1000, Src: 0, Dst: 3, Size: 300_000}, {At: 2000, Src: 1, Dst: 3, Size: 1 << 20}},
			Lose: func(e model.PacketEvent) bool { n++; return n%101 == 0 },
		})
		modeltest.AllDone(t, f, sim, 10*units.Second)
	}
}

// One message of a sender is granted at a time: the one with the fewest bytes
// to be granted (README, Grants).
func TestOneMessageOfEachSenderIsGranted(t *testing.T) {
	f := rack(t, 3)
	h := newCore(t, f, 2, params(f, nil))
	for id, packets := range []uint32{400, 200, 300} {
		h.get(0, 0, homa.Header{Kind: "DATA", ID: transport.MessageID(id), Length: packets * mss, Unscheduled: 100},
			mss)
		h.get(0, 0, homa.Header{Kind: "DATA", ID: transport.MessageID(id), Offset: mss, Length: packets * mss,
			Unscheduled: 100}, mss)
	}
	// Nothing more is in flight than the window allows once 32 packets have come.
	granted := map[transport.MessageID]int{}
	for i := uint32(2); i < 100; i++ {
		for id, packets := range []uint32{400, 200, 300} {
			h.get(0, 0, homa.Header{Kind: "DATA", ID: transport.MessageID(id), Offset: i * mss, Length: packets * mss,
				Unscheduled: 100}, mss)
		}
	}
	for now := units.Time(0); now < 100*124; now += 124 {
		for _, hd, ok := h.next(now); ok; _, hd, ok = h.next(now) {
			granted[hd.ID]++
		}
	}
	if granted[1] != 69 || len(granted) != 1 {
		t.Errorf("grants by message: %v, want 69 for the shortest alone", granted)
	}
}
