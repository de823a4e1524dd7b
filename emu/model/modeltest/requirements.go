package modeltest

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"sirdbed/emu/effort"
	"sirdbed/emu/model"
	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// A Subject is a protocol whose requirements are tested.
type Subject struct {
	Protocol transport.Protocol
	// Params draws the parameters of a run; nil: the defaults. At a twentieth of
	// loss in either direction five losses in a row happen: let it try that often.
	Params func(*topo.Fabric, *rand.Rand) any
	// Seeds is how many random runs are made, 0: 500.
	Seeds uint64
	// Check, when set, finds what may be wrong with a host at no time.
	Check func(transport.Transport) error
}

func (s Subject) check(f *topo.Fabric, sim *model.Sim) error {
	if s.Check == nil {
		return nil
	}
	return eachHost(f, sim, s.Check)
}

func (s Subject) params(f *topo.Fabric, r *rand.Rand) any {
	if s.Params == nil {
		return nil
	}
	return s.Params(f, r)
}

// ExactlyOnceUnderFaults checks that every message is delivered exactly once, with verified
// bytes, under 5 % each of loss, duplication, reordering and corruption; and in
// the end nothing is kept of it.
func ExactlyOnceUnderFaults(t *testing.T, s Subject) {
	t.Helper()
	f := Fabric(t, Small)
	runs := effort.Count(t, "SIRDBED_SEEDS", cmp.Or(int(s.Seeds), 500))
	failures := 0
	for seed := range uint64(runs) {
		if err := s.faultyRun(f, seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
			if failures++; failures == 5 {
				t.FailNow()
			}
		}
	}
}

func (s Subject) faultyRun(f *topo.Fabric, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 7))
	params := s.params(f, r)
	sim, err := model.New(model.Config{
		Fabric: f, Protocol: s.Protocol, Params: params, Seed: seed, Bytes: true,
		Sends:  mixture(r, s.Protocol.Framing(f.Spec.MTU).MSS),
		Faults: fault.Config{Drop: 0.05, Duplicate: 0.05, Reorder: 0.05, Corrupt: 0.05},
	})
	if err != nil {
		return err
	}
	if !sim.RunUntilDone(5 * units.Second) {
		return fmt.Errorf("not done after 5 s: %s", Undone(sim))
	}
	for range 10 { // late duplicates and answers
		sim.Run(sim.Now() + 100*units.Microsecond)
		if err := s.check(f, sim); err != nil {
			return err
		}
	}
	sim.Run(sim.Now() + 2*rest)
	total, want := sim.Totals(), int64(0)
	for _, m := range sim.Messages() {
		want += int64(m.Size)
	}
	if total.Payload != want {
		return fmt.Errorf("%d payload bytes arrived for the first time, want %d", total.Payload, want)
	}
	if total.HostStats.Faults == 0 && total.HostStats.Received > 200 {
		return errors.New("no packet was lost: the run shows nothing")
	}
	return errors.Join(delivered(sim), s.check(f, sim), idle(f, sim))
}

// mixture is messages of all sizes, some with replies, between hosts of Small.
func mixture(r *rand.Rand, mss units.Bytes) (sends []model.Send) {
	sizes := []units.Bytes{8, mss - 1, mss, mss + 1, 50_000, 99_000, 150_000, 400_000}
	for range 4 + r.IntN(12) {
		src := topo.HostID(r.IntN(4))
		m := model.Send{
			At: units.Time(r.IntN(200_000)), Src: src, Dst: (src + 1 + topo.HostID(r.IntN(3))) % 4,
			Size: sizes[r.IntN(len(sizes))],
		}
		if r.IntN(3) > 0 {
			m.Size = 1 + units.Bytes(r.IntN(int(m.Size)))
		}
		if r.IntN(3) == 0 {
			m.Reply = 8
		}
		sends = append(sends, m)
	}
	return sends
}

// DeadPeerFailsTheMessage checks that whichever end is dead, the sender gives the message
// up in the end and says why, and neither end keeps anything of it.
func DeadPeerFailsTheMessage(t *testing.T, s Subject) {
	t.Helper()
	f := Fabric(t, Small)
	for _, size := range []units.Bytes{1, 30_000, 2_000_000} {
		for _, dead := range []topo.HostID{0, 3} { // whose packets are lost
			sim := Sim(t, s.Protocol, model.Config{Fabric: f, Seed: 1, Sends: []model.Send{{Dst: 3, Size: size}},
				Lose: func(e model.PacketEvent) bool { return e.Src == dead }})
			if !sim.RunUntilDone(100 * units.Second) {
				t.Errorf("%v, host %d dead: not given up in 100 s: %s", size, dead, Undone(sim))
				continue
			}
			if m := sim.Messages()[0]; m.Failed == units.Never || m.Acked != units.Never || m.Reason == "" {
				t.Errorf("%v, host %d dead: %+v", size, dead, m)
			}
			// A receiver may wait for longer than a sender tries.
			sim.Run(sim.Now() + 100*rest)
			if err := idle(f, sim); err != nil && dead == 0 {
				t.Errorf("%v, host %d dead: %v", size, dead, err)
			}
		}
	}
}

// NoAllocationPerPacket checks that once queues have grown no packet allocates anything,
// with and without losses, by the default parameters.
func NoAllocationPerPacket(t *testing.T, s Subject) {
	t.Helper()
	f := Fabric(t, Small)
	var sends []model.Send
	for _, src := range f.Hosts {
		for _, dst := range f.Hosts {
			if src != dst {
				sends = append(sends, model.Send{Src: src, Dst: dst, Size: 1 << 31})
			}
		}
	}
	// Losses meet the last cases that need room only after some timeouts.
	for loss, warm := range map[float64]units.Time{0: 3 * units.Millisecond, 0.01: 12 * units.Millisecond} {
		sim := Sim(t, s.Protocol, model.Config{Fabric: f, Seed: 1, Sends: sends, Faults: fault.Config{Drop: loss}})
		sim.Run(warm)
		const runs = 5
		before := sim.Totals().Sent
		allocs := testing.AllocsPerRun(runs, func() { sim.Run(sim.Now() + 500*units.Microsecond) })
		packets := float64(sim.Totals().Sent-before) / (runs + 1)
		if packets < 1000 {
			t.Errorf("loss %g: %v packets in 500 us show nothing", loss, packets)
		}
		if allocs > packets/2000 {
			t.Errorf("loss %g: %v allocations in %v packets", loss, allocs, packets)
		}
	}
}

// HalfLoad offers a workload to eight hosts, all to all, at half their links'
// rate until the given time: everything arrives. It returns the simulation, for
// further claims.
func HalfLoad(t *testing.T, s Subject, workload string, to units.Time) (*topo.Fabric, *model.Sim) {
	t.Helper()
	f := Fabric(t, Eight)
	sim := Sim(t, s.Protocol, model.Config{
		Fabric: f, Seed: 1, To: to,
		Streams: []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Sizes: workload, Load: 0.5}},
	})
	AllDone(t, f, sim, units.Second)
	if n := sim.Totals().Delivered; n < 50 {
		t.Errorf("%d messages show nothing", n)
	}
	return f, sim
}
