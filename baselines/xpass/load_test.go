package xpass_test

import (
	"testing"

	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// eight is two racks of four hosts under a core that is no bottleneck.
func eight(t testing.TB) *topo.Fabric {
	t.Helper()
	return modeltest.Fabric(t, topo.Spec{Leaves: 2, HostsPerLeaf: 4, Spines: 2, HostRate: 100 * units.Gbps,
		CoreRate: 400 * units.Gbps, HostDelay: 1250, CoreDelay: 500})
}

// loaded offers a workload for a while and returns payload per host in the
// second half, offered and received, and the backlog of messages after each
// half.
func loaded(
	t *testing.T, sizes string, load float64, reply units.Bytes, end units.Time,
) (offered, goodput float64, backlog [2]int64, sim *model.Sim) {
	t.Helper()
	f := eight(t)
	sim = newSim(t, model.Config{Fabric: f, Seed: 1, From: end / 2, To: end,
		Streams: []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Sizes: sizes, Load: load,
			Reply: reply}}})
	for i := range backlog {
		sim.Run(end / 2 * units.Time(i+1))
		c := sim.Totals().Counts
		backlog[i] = c.Offered - c.Delivered
	}
	for _, m := range sim.Messages() {
		if m.Offered > end/2 {
			offered += float64(m.Size)
		}
	}
	gbps := 8 / (float64(end) / 2) / 8 // bits, ns, hosts
	return offered * gbps, float64(sim.Totals().WindowPayload) * gbps, backlog, sim
}

// ExpressPass cannot carry WKa at 50 %: 38.04 Gbps is its maximum in the SIRD
// paper (appendix, raw goodput, Balanced), where each message has a reply of 4
// bytes (README, Published figures). A small message costs a whole packet's
// credit, and so does its reply. It does carry 30 %.
func TestWKaSaturatesWellBelowTheLink(t *testing.T) {
	for _, c := range []struct {
		load        float64
		least, most float64 // goodput in Gbps
		grows       bool
	}{
		{0.3, 23, 36, false},
		{0.5, 34, 41, true},
		{0.8, 36, 42, true},
	} {
		offered, goodput, backlog, sim := loaded(t, "wka", c.load, 4, 4*units.Millisecond)
		sent := float64(modeltest.Counted(eight(t), sim, "credits_sent"))
		t.Logf("load %.1f: %.1f Gbps offered, %.1f received, backlog %v, of credits %.3f dropped, %.3f wasted", c.load,
			offered, goodput, backlog,
			float64(sim.Totals().PortStats.CreditDrops)/sent,
			float64(modeltest.Counted(eight(t), sim, "credits_wasted"))/sent)
		if goodput < c.least || goodput > c.most {
			t.Errorf("load %.1f: %.1f Gbps, want %v to %v", c.load, goodput, c.least, c.most)
		}
		if failed := sim.Totals().Failed; failed != 0 {
			t.Errorf("load %.1f: %d messages failed", c.load, failed)
		}
		if grows := float64(backlog[1]) > 1.5*float64(backlog[0]); grows != c.grows {
			t.Errorf("load %.1f: backlog %v", c.load, backlog)
		}
	}
}

// Small messages waste credits: of those that reach a sender of WKa without
// replies at 30 % load, more than a tenth come too late, of WKc's hardly any
// (ExpressPass paper, section 7, on short flows).
func TestSmallMessagesWasteCredits(t *testing.T) {
	share := func(sizes string) float64 {
		_, _, _, sim := loaded(t, sizes, 0.3, 0, 2*units.Millisecond)
		f := eight(t)
		arrived := modeltest.Counted(f, sim, "credits_sent") - sim.Totals().PortStats.CreditDrops
		return float64(modeltest.Counted(f, sim, "credits_wasted")) / float64(arrived)
	}
	small, large := share("wka"), share("wkc")
	t.Logf("wasted: %.3f of the credits of WKa, %.3f of WKc", small, large)
	if small < 0.1 || large > 0.05 {
		t.Errorf("wasted: %.3f of the credits of WKa, %.3f of WKc", small, large)
	}
}

// Eight hosts, all to all, WKc at 50 %: everything arrives, and no switch ever
// has more than a few packets per port (the maximum for WKc in the SIRD
// paper's appendix is 0.28 MB for a ToR of 16 hosts).
func TestWKcAtHalfLoadArrives(t *testing.T) {
	f := eight(t)
	sim := newSim(t, model.Config{Fabric: f, Seed: 2, To: 4 * units.Millisecond,
		Streams: []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Sizes: "wkc", Load: 0.5}}})
	if !sim.RunUntilDone(units.Second) {
		t.Fatalf("not done: %s", modeltest.Undone(sim))
	}
	modeltest.Idle(t, f, sim)
	c := sim.Totals()
	if c.Delivered != c.Offered || c.Offered < 50 || c.Failed != 0 || c.PortStats.Drops != 0 {
		t.Errorf("%+v", c)
	}
	for n := range f.Nodes {
		if q := sim.NodeQueue(topo.NodeID(n)); f.Nodes[n].Kind != topo.Host && q.Max > 280_000/4 {
			t.Errorf("%s: %v waited", f.Nodes[n].Name, q.Max)
		}
	}
	if n := modeltest.Counted(f, sim, "retransmissions"); n != 0 {
		t.Errorf("%d packets sent again without any loss", n)
	}
}

// No packet allocates anything once queues and pools have grown.
func TestNoAllocationPerPacket(t *testing.T) { modeltest.NoAllocationPerPacket(t, subject) }
