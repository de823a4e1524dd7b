//go:build linux && !portable

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sirdbed/capture/results"
)

// Everything that can go wrong with links and hosts, one after the other.
const failingScenario = `name: failing
topology: {leaves: 1, hosts_per_leaf: 4, host_rate: 100Gbps, host_delay: 2us}
traffic:
  - {name: all, pattern: fixed, size: 3KB, interval: 4us}
protocol: dctcp
dctcp: {min_rto: 50us}
duration: 400us
faults:
  - {at: 20us, for: 10us, link: h1-1, do: blackhole}
  - {at: 50us, for: 10us, link: h1-2, do: down}
  - {at: 80us, for: 20us, link: leaf1>h1-3, do: rate, rate: 10Gbps}
  - {at: 110us, for: 20us, link: h1-4, do: delay, delay: 5us}
  - {at: 140us, for: 60us, link: h1-1, do: drop, share: 0.1}
  - {at: 140us, for: 60us, link: h1-2, do: duplicate, share: 0.1}
  - {at: 140us, for: 60us, link: h1-3, do: reorder, share: 0.1, delay: 3us}
  - {at: 140us, for: 60us, link: h1-4, do: corrupt, share: 0.1}
  - {at: 220us, for: 20us, host: h1-1, do: pause}
  - {at: 260us, restart: 20us, host: h1-2, do: kill}
`

// A timeline of faults gives the same run again to the last bit, and nearly the same one on
// the model: where several packets come at one instant, engines take them in another order.
func TestFaultsRepeatInAGuest(t *testing.T) {
	t.Parallel()
	path, dir := virtualBinary(t)
	if err := os.WriteFile(filepath.Join(dir, "failing.yaml"), []byte(failingScenario), 0o666); err != nil {
		t.Fatal(err)
	}
	var runs []results.Summary
	for _, run := range []struct{ engine, out string }{{"virtual", "a"}, {"virtual", "b"}, {"model", "c"}} {
		cmd := exec.Command(path, "run", "failing.yaml", "--engine", run.engine, "--json", "--out", run.out)
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		text, err := cmd.Output()
		if _, exited := err.(*exec.ExitError); err != nil && !exited { // the protocol is not made for restarts
			t.Fatal(err)
		}
		var s results.Summary
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, s)
	}
	if runs[0].Digest != runs[1].Digest {
		t.Errorf("digests %s and %s", runs[0].Digest, runs[1].Digest)
	}
	virtual, model := runs[0].Variants[0], runs[2].Variants[0]
	for _, v := range []results.VariantSummary{virtual, model} {
		for _, c := range v.Checks {
			if c.Level != results.Pass && c.Name != "integrity" {
				t.Errorf("%s: %s %s: %s", v.Engine, c.Name, c.Level, c.Found)
			}
		}
	}
	for _, name := range []string{"messages_offered", "messages_delivered", "window_payload_received"} {
		v, m := float64(virtual.Counters[name]), float64(model.Counters[name])
		if v < 0.95*m || v > 1.05*m || m == 0 {
			t.Errorf("%s: %.0f on virtual, %.0f on the model", name, v, m)
		}
	}
	if v, m := virtual.Conserved.Faults, model.Conserved.Faults; v == 0 || m == 0 {
		t.Errorf("%d packets lost by links on virtual, %d on the model: want some", v, m)
	}
}
