//go:build linux && !portable

package main

import (
	"testing"

	"sirdbed/capture/results"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A rack-crossing mix of messages over a network that loses, repeats, reorders
// and damages one packet in twenty, each. Long enough after the last message
// for all credit to come back.
const lossyScenario = `name: lossy
topology:
  {leaves: 2, hosts_per_leaf: 2, spines: 2, host_rate: 100Gbps, core_rate: 100Gbps,
   host_delay: 2us, core_delay: 1us, mtu: 9000B}
sird: {max_resends: 50, ecn: none}
traffic:
  - {name: small, pattern: fixed, from: [h1-1, h2-2], to: [h1-2], size: 8B, interval: 100us, reply: 8B}
  - {name: tens, pattern: fixed, from: [h1-1, h1-2], to: [h2-1], size: 20KB, rate: 10Gbps}
  - {name: large, pattern: fixed, from: [h2-1, h2-2], to: [h1-1], size: 500KB, rate: 8Gbps, reply: 1KB}
duration: 3ms
drain: 300ms
dilation: 60
faults: {drop: 0.05, duplicate: 0.05, reorder: 0.05, reorder_delay: 20us, corrupt: 0.05}
`

// Every message arrives once, with the bytes that were sent, whatever the
// network does; what was damaged is found by its checksum; and when all is over
// no credit is left at either end. Faults that were asked for are no reason to
// distrust the run.
func TestLossyRunDeliversExactlyOnce(t *testing.T) {
	b := build(t)
	b.write("lossy.yaml", lossyScenario)
	out, err := b.command("run", "lossy.yaml", "--out", "r").CombinedOutput()
	if got := code(err); got != exitFine && got != exitInvalid {
		t.Fatalf("exit code %d\n%s", got, out)
	}
	_, variants := b.result("r")
	v := variants[0]
	delivered := 0
	for i := range v.Messages {
		if m := &v.Messages[i]; m.Delivered != units.Never && m.Acked != units.Never && m.Failed == units.Never {
			delivered++
		}
	}
	if delivered != len(v.Messages) || delivered < 400 || v.Counters["payload_mismatches"] != 0 {
		t.Errorf("%d of %d messages, counters %v", delivered, len(v.Messages), v.Counters)
	}
	for _, name := range []string{"run", "hosts", "integrity", "conservation", "corruption"} {
		if c := check(v, name); c != nil && c.Level != results.Pass {
			t.Errorf("%s: %s, %s", c.Name, c.Level, c.Found)
		}
	}
	var corrupt, dropped, extra int64
	for _, h := range v.Facts.Hosts {
		corrupt, dropped, extra = corrupt+h.Corrupt, dropped+h.Faults, extra+h.Extra
		if h.Corrupt != h.Flipped {
			t.Errorf("%s: %d packets damaged, %d found", h.Name, h.Flipped, h.Corrupt)
		}
	}
	if corrupt < 50 || dropped < 50 || extra < 50 || v.Counters["retransmissions"] == 0 {
		t.Errorf("%d damaged, %d lost, %d repeated, counters %v: this network was too good",
			corrupt, dropped, extra, v.Counters)
	}
	for h := range v.Fabric.Hosts {
		for _, name := range []string{"credit_held", "credit_out"} {
			g, ok := v.Gauge(topo.HostID(h), name)
			if !ok || len(g.Points) < 100 {
				t.Fatalf("%s of host %d is not there", name, h)
			}
			if last := g.Points[len(g.Points)-1]; last.Value != 0 {
				t.Errorf("%s of %s ended at %v B, at %v", name, v.Fabric.HostName(topo.HostID(h)), last.Value, last.At)
			}
		}
	}
	t.Logf("%d messages, %d packets damaged, %d lost, %d repeated; over at %v nominal, %.1f s",
		delivered, corrupt, dropped, extra, v.End, v.Facts.Wall)
	b.gone()
}

// check finds a check of the verdict, nil if it was not made.
func check(v *results.Variant, name string) *results.Check {
	for i := range v.Verdict.Checks {
		if v.Verdict.Checks[i].Name == name {
			return &v.Verdict.Checks[i]
		}
	}
	return nil
}
