package swift_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"sirdbed/baselines/swift"
	"sirdbed/emu/model"
	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// small is a fabric of two racks that is quick to simulate.
var small = topo.Spec{Leaves: 2, HostsPerLeaf: 2, Spines: 2, HostRate: 100 * units.Gbps, CoreRate: 100 * units.Gbps,
	HostDelay: 1250, CoreDelay: 500}

// seeds is how many random runs the loss test makes. SIRDBED_SEEDS sets it for a
// longer search.
func seeds() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("SIRDBED_SEEDS"), 10, 64); err == nil {
		return n
	}
	return 500
}

// Exactly once, with verified bytes, under 5 % each of loss, duplication,
// reordering and corruption (design.md section 5).
func TestExactlyOnceUnderFaults(t *testing.T) {
	f := fabric(t, small)
	for seed := range seeds() {
		if err := faultyRun(f, seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func faultyRun(f *topo.Fabric, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 7))
	p := swift.DefaultParams(f)
	p.Connections = []int{1, 3, 40}[r.IntN(3)]
	p.MinRTO = 200 * us // as it is, runs last for seconds
	sizes := []int{8, full, full + 1, 50_000, 150_000, 400_000}
	var sends []model.Send
	want := int64(0)
	for range 4 + r.IntN(8) {
		src := topo.HostID(r.IntN(4))
		s := model.Send{
			At: units.Time(r.IntN(200_000)), Src: src, Dst: (src + 1 + topo.HostID(r.IntN(3))) % 4,
			Size: units.Bytes(1 + r.IntN(sizes[r.IntN(len(sizes))])), Reply: units.Bytes(r.IntN(9)),
		}
		want += int64(s.Size + s.Reply)
		sends = append(sends, s)
	}
	sim, err := model.New(model.Config{
		Fabric: f, Protocol: swift.Protocol, Params: p, Seed: seed, Sends: sends, Bytes: true,
		Faults: fault.Config{Drop: 0.05, Duplicate: 0.05, Reorder: 0.05, Corrupt: 0.05},
	})
	if err != nil {
		return err
	}
	if !sim.RunUntilDone(5 * units.Second) {
		return fmt.Errorf("not done after 5 s: %+v", sim.Messages())
	}
	sim.Run(sim.Now() + 10*units.Millisecond)
	total := sim.Totals()
	if total.Delivered != total.Offered || total.Acked != total.Offered || total.Mismatches != 0 || total.Payload != want {
		return fmt.Errorf("want %d bytes: %+v", want, total.Counts)
	}
	for _, h := range f.Hosts {
		if err := sim.Host(h).Transport().(*swift.Swift).Idle(); err != nil {
			return fmt.Errorf("%s: %v", f.HostName(h), err)
		}
	}
	return nil
}

// No packet allocates anything once queues have grown.
func TestNoAllocationsPerPacket(t *testing.T) {
	for _, n := range []int{1, 4} {
		f := rack(t, n+1)
		var sends []model.Send
		for h := range n {
			sends = append(sends, model.Send{Src: f.Hosts[h], Dst: topo.HostID(n), Size: 1 << 31})
		}
		sim := newSim(t, model.Config{Fabric: f, Sends: sends})
		sim.Run(3 * units.Millisecond)
		before := sim.Totals().Received
		allocs := testing.AllocsPerRun(10, func() { sim.Run(sim.Now() + 100*us) })
		packets := float64(sim.Totals().Received-before) / 11
		if allocs > packets/1000 {
			t.Errorf("%d senders: %v allocations in %v packets", n, allocs, packets)
		}
	}
}

// Eight hosts, all to all, web search at half the load: everything arrives, and
// in the lossless network of the evaluation hardly anything is sent twice.
func TestAllToAllIsDelivered(t *testing.T) {
	f := fabric(t, topo.Spec{Leaves: 2, HostsPerLeaf: 4, Spines: 2, HostRate: 100 * units.Gbps, CoreRate: 400 * units.Gbps,
		HostDelay: 1250, CoreDelay: 500})
	sim := newSim(t, model.Config{
		Fabric: f, To: 5 * units.Millisecond,
		Streams: []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Sizes: "wkc", Load: 0.5}},
	})
	allDone(t, f, sim, units.Second)
	again, timeouts := int64(0), int64(0)
	for _, h := range f.Hosts {
		again += sim.Host(h).Counter("retransmissions")
		timeouts += sim.Host(h).Counter("timeouts")
	}
	total := sim.Totals()
	t.Logf("%d messages, %d packets, %d retransmissions, %d timeouts", total.Delivered, total.Sent, again, timeouts)
	if total.Delivered < 50 || again > total.Sent/500 {
		t.Errorf("%+v; %d retransmissions", total, again)
	}
}
