package sird_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"sirdbed/emu/model"
	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// small is a fabric of two racks that is quick to simulate.
var small = topo.Spec{Leaves: 2, HostsPerLeaf: 2, Spines: 2, HostRate: 100 * units.Gbps, CoreRate: 100 * units.Gbps,
	HostDelay: 1250, CoreDelay: 500}

func fabric(t testing.TB, s topo.Spec) *topo.Fabric {
	t.Helper()
	f, err := topo.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func params(f *topo.Fabric, change func(*sird.Params)) *sird.Params {
	p := sird.Protocol.DefaultParams(f).(*sird.Params)
	if change != nil {
		change(p)
	}
	return p
}

func newSim(t testing.TB, c model.Config) *model.Sim {
	t.Helper()
	c.Protocol = sird.Protocol
	sim, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// seeds is how many random runs the loss tests make. SIRDBED_SEEDS sets it for
// a longer search.
func seeds() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("SIRDBED_SEEDS"), 10, 64); err == nil {
		return n
	}
	return 2000
}

// Exactly once, with verified bytes, under 5 % each of loss, duplication,
// reordering and corruption; and when all is done no credit has leaked or been
// minted (design.md section 5).
func TestExactlyOnceAndNoCreditLeaksUnderFaults(t *testing.T) {
	f := fabric(t, small)
	for seed := range seeds() {
		if err := faultyRun(f, seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
			if t.Failed() && seed > 20 {
				t.FailNow()
			}
		}
	}
}

func faultyRun(f *topo.Fabric, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 7))
	p := sird.Protocol.DefaultParams(f).(*sird.Params)
	p.MaxResends = 50 // at these rates of loss, five in a row happen
	p.UnschT = []sird.Multiple{0, 1, 4}[r.IntN(3)]
	p.AccountUnscheduled = r.IntN(4) > 0
	p.ReceiverPolicy = []string{"srpt", "round_robin"}[r.IntN(2)]
	sizes := []int{8, 1442, 1443, 50_000, 99_000, 150_000, 400_000}
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
		Fabric: f, Protocol: sird.Protocol, Params: p, Seed: seed, Sends: sends, Bytes: true,
		Faults: fault.Config{Drop: 0.05, Duplicate: 0.05, Reorder: 0.05, Corrupt: 0.05},
	})
	if err != nil {
		return err
	}
	if !sim.RunUntilDone(5 * units.Second) {
		return fmt.Errorf("not done after 5 s: %s", undone(sim))
	}
	// Late duplicates and answers, lost returns of credit: some timeouts more.
	sim.Run(sim.Now() + 20*p.LossTimeout)
	for _, m := range sim.Messages() {
		if m.Delivered == units.Never || m.Failed != units.Never {
			return fmt.Errorf("message %+v", m)
		}
	}
	total := sim.Totals()
	if total.Delivered != total.Offered || total.Acked != total.Offered || total.Mismatches != 0 {
		return fmt.Errorf("%+v", total.Counts)
	}
	want := int64(0)
	for _, m := range sim.Messages() {
		want += int64(m.Size)
	}
	if total.Payload != want {
		return fmt.Errorf("%d payload bytes arrived for the first time, want %d", total.Payload, want)
	}
	for _, h := range f.Hosts {
		if leak := sim.Host(h).Transport().(*sird.SIRD).Leaks(); leak != "" {
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
