package aimd_test

import (
	"testing"

	"sirdbed/baselines/aimd"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

var subject = modeltest.Subject{Protocol: aimd.Protocol, Seeds: 200}

// The requirements on every protocol.
func TestExactlyOnceUnderFaults(t *testing.T)  { modeltest.ExactlyOnceUnderFaults(t, subject) }
func TestDeadPeerFailsTheMessage(t *testing.T) { modeltest.DeadPeerFailsTheMessage(t, subject) }
func TestNoAllocationPerPacket(t *testing.T)   { modeltest.NoAllocationPerPacket(t, subject) }
func TestHalfLoadArrives(t *testing.T)         { modeltest.HalfLoad(t, subject, "wkc", 5*units.Millisecond) }

// Three senders share a receiver's link: it is full, the shares are equal, and
// the queue stays around the marking threshold.
func TestSendersShareALinkAndItsQueueStaysShort(t *testing.T) {
	f := modeltest.Rack(t, 4, 2*units.Microsecond)
	from, to := 5*units.Millisecond, 15*units.Millisecond
	sim := modeltest.Sim(t, aimd.Protocol, model.Config{Fabric: f, Seed: 1, From: from, To: to,
		Streams: []traffic.Stream{{
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

func TestValidationNamesTheParameter(t *testing.T) {
	modeltest.BadParamsAreNamed(t, aimd.Protocol, map[string][]string{
		"step": {`"0bps"`}, "cut": {`0`, `1`}, "least": {`"0bps"`}, "timeout": {`"1us"`}, "attempts": {`0`},
	})
}
