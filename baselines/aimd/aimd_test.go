package aimd_test

import (
	"math/rand/v2"
	"testing"

	"sirdbed/baselines/aimd"
	"sirdbed/emu/model"
	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

var rack = topo.Spec{Leaves: 1, HostsPerLeaf: 4, HostRate: 100 * units.Gbps, HostDelay: 2 * units.Microsecond}

func fabric(t *testing.T) *topo.Fabric {
	f, err := topo.New(rack)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func run(t *testing.T, c model.Config) *model.Sim {
	t.Helper()
	c.Protocol = aimd.Protocol
	sim, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// Three senders share a receiver's link: it is full, the shares are equal, and
// the queue stays around the marking threshold.
func TestSendersShareALinkAndItsQueueStaysShort(t *testing.T) {
	f := fabric(t)
	from, to := 5*units.Millisecond, 15*units.Millisecond
	sim := run(t, model.Config{Fabric: f, Seed: 1, From: from, To: to, Streams: []traffic.Stream{{
		Name: "bulk", Pattern: traffic.PatternOutcast, From: []string{"h1-1", "h1-2", "h1-3"}, To: []string{"h1-4"},
		Size: 100 * units.Megabyte, Outstanding: 2,
	}}})
	sim.Run(from)
	sim.ResetQueues()
	before := [3]int64{}
	for h := range before {
		before[h] = sim.Host(topo.HostID(h)).Counts().SentBytes
	}
	sim.Run(to)
	if g := float64(sim.Host(3).Counts().WindowPayload) * 8 / (to - from).Seconds() / 1e9; g < 85 {
		t.Errorf("goodput %.1f Gbps", g)
	}
	for h := range before {
		rate := float64(sim.Host(topo.HostID(h)).Counts().SentBytes-before[h]) * 8 / (to - from).Seconds() / 1e9
		if rate < 25 || rate > 42 {
			t.Errorf("%s sent at %.1f Gbps, want about 33", f.HostName(topo.HostID(h)), rate)
		}
	}
	if q := sim.Queue(f.Downlink(3).ID); q.Max > 4*f.BDP() {
		t.Errorf("queue %+v with a threshold of %v", q, f.BDP())
	}
}

// Exactly once, every byte right, under loss, duplication, reordering and
// corruption.
func TestExactlyOnceUnderFaults(t *testing.T) {
	f := fabric(t)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		var sends []model.Send
		var want int64
		for range 6 {
			s := model.Send{Src: topo.HostID(r.IntN(3)), Dst: 3, At: units.Time(r.IntN(100_000)), Size: units.Bytes(1 + r.IntN(200_000))}
			want += int64(s.Size)
			sends = append(sends, s)
		}
		sim := run(t, model.Config{Fabric: f, Seed: seed, Sends: sends, Bytes: true,
			Faults: fault.Config{Drop: 0.05, Duplicate: 0.05, Reorder: 0.05, Corrupt: 0.05}})
		if !sim.RunUntilDone(units.Second) {
			t.Fatalf("seed %d: not done", seed)
		}
		if c := sim.Totals().Counts; c.Delivered != 6 || c.Acked != 6 || c.Mismatches != 0 || c.Payload != want {
			t.Errorf("seed %d: %+v, want %d bytes", seed, c, want)
		}
	}
}

// A receiver that is gone makes the message fail, with the reason, and the next
// one is tried.
func TestDeadReceiverFailsTheMessage(t *testing.T) {
	f := fabric(t)
	sim := run(t, model.Config{Fabric: f, Seed: 1, Sends: []model.Send{{Dst: 1, Size: 5000}, {Dst: 1, Size: 8}},
		Lose: func(e model.PacketEvent) bool { return e.Dst == 1 }})
	sim.RunUntilDone(units.Second)
	for _, m := range sim.Messages() {
		if m.Failed == units.Never || m.Reason == "" {
			t.Errorf("%+v", m)
		}
	}
}
