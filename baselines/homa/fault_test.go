package homa_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"sirdbed/baselines/homa"
	"sirdbed/emu/model"
	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// seeds is how many random runs the fault tests make. SIRDBED_SEEDS sets it for
// a longer search.
func seeds() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("SIRDBED_SEEDS"), 10, 64); err == nil {
		return n
	}
	return 1000
}

// Exactly once, with verified bytes, under 5 % each of loss, duplication,
// reordering and corruption; and when all is done both ends have forgotten it
// (design.md section 5; recovery as HomaModule's, protocols.md section 4.3).
func TestExactlyOnceAndNothingLeftUnderFaults(t *testing.T) {
	f := fabric(t, small)
	for seed := range seeds() {
		if err := faultyRun(f, seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
			if seed > 20 {
				t.FailNow()
			}
		}
	}
}

func faultyRun(f *topo.Fabric, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 7))
	p := homa.Protocol.DefaultParams(f).(*homa.Params)
	p.MaxResends = 50 // at these rates of loss, five in a row happen
	p.RTTBytes = []units.Bytes{1446, 20_000, 100_000}[r.IntN(3)]
	p.Overcommitment = r.IntN(4)
	if r.IntN(2) == 0 {
		p.Cutoffs = []units.Bytes{3000, 30_000}
	}
	p.BoostTail = units.Bytes(r.IntN(2) * 10_000)
	sizes := []int{8, 1446, 1447, 50_000, 99_900, 150_000, 400_000}
	var sends []model.Send
	for range 4 + r.IntN(8) {
		src := topo.HostID(r.IntN(4))
		s := model.Send{
			At: units.Time(r.IntN(200_000)), Src: src, Dst: (src + 1 + topo.HostID(r.IntN(3))) % 4,
			Size: units.Bytes(1 + r.IntN(sizes[r.IntN(len(sizes))])),
		}
		if r.IntN(3) == 0 {
			s.Reply = 8
		}
		sends = append(sends, s)
	}
	sim, err := model.New(model.Config{
		Fabric: f, Protocol: homa.Protocol, Params: p, Seed: seed, Sends: sends, Bytes: true,
		Faults: fault.Config{Drop: 0.05, Duplicate: 0.05, Reorder: 0.05, Corrupt: 0.05},
	})
	if err != nil {
		return err
	}
	if !sim.RunUntilDone(5 * units.Second) {
		return fmt.Errorf("not done after 5 s: %s", undone(sim))
	}
	sim.Run(sim.Now() + 20*p.LossTimeout) // late duplicates and answers
	want := int64(0)
	for _, m := range sim.Messages() {
		if m.Delivered == units.Never || m.Failed != units.Never {
			return fmt.Errorf("message %+v", m)
		}
		want += int64(m.Size)
	}
	total := sim.Totals()
	if total.Delivered != total.Offered || total.Acked != total.Offered || total.Mismatches != 0 || total.Payload != want {
		return fmt.Errorf("%+v, want %d bytes of payload", total.Counts, want)
	}
	for _, h := range f.Hosts {
		if leak := at(sim, h).Leaks(); leak != "" {
			return fmt.Errorf("%s: %s", f.HostName(h), leak)
		}
	}
	return nil
}

func undone(sim *model.Sim) (s string) {
	for _, m := range sim.Messages() {
		if m.Acked == units.Never {
			s += fmt.Sprintf("%+v ", m)
		}
	}
	return s
}

// Under a realistic load with rare losses, control traffic stays in proportion:
// recovery must not feed on itself.
func TestRecoveryCausesNoControlStorm(t *testing.T) {
	s := small
	s.HostsPerLeaf = 3
	f := fabric(t, s)
	for seed := range uint64(3) {
		sim := newSim(t, model.Config{
			Fabric: f, Seed: seed, To: 3 * units.Millisecond, Params: params(f, func(p *homa.Params) { p.Workload = "wka" }),
			Streams: []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Sizes: "wka", Load: 0.5}},
			Faults:  fault.Config{Drop: 0.001, Reorder: 0.01},
		})
		if !sim.RunUntilDone(units.Second) {
			t.Fatalf("seed %d: not done: %s", seed, undone(sim))
		}
		noLeaks(t, f, sim)
		// A packet of data and an acknowledgement for each message, and for each
		// further packet at most a grant; retransmissions are a few in a thousand.
		packets := int64(0)
		for _, m := range sim.Messages() {
			packets += 2 * int64((m.Size+mss-1)/mss)
		}
		if c := sim.Totals().Counts; c.Sent > packets*11/10 {
			t.Errorf("seed %d: %d packets sent, %d needed", seed, c.Sent, packets)
		}
	}
}
