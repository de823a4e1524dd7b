//go:build linux && !portable

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sirdbed/capture"
	"sirdbed/capture/results"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Two racks, so that the kernel's hash chooses paths; marks for DCTCP; queues that
// overflow; captures.
const kernelTCPScenario = `name: kerneltcp
topology:
  {leaves: 2, spines: 2, hosts_per_leaf: 3, host_rate: 100Gbps, core_rate: 400Gbps,
   host_delay: 1.25us, core_delay: 0.5us, mtu: 1500B}
protocols: [tcp-cubic, tcp-dctcp, tcp-bbr, tcp-reno]
traffic:
  - {name: all, pattern: poisson, sizes: wka, load: 0.2}
  - {name: ask, pattern: fixed, from: [h1-1], to: [h2-3], size: 8B, interval: 20us, reply: 8B}
  - {name: incast, pattern: incast, fan_in: 4, size: 100KB, interval: 50us}
duration: 150us
drain: 30ms
capture: [leaf1, h1-1]
queue_limit: 100KB
`

// Kernel TCP on the virtual engine: every message arrives, every segment is
// accounted for, those that queues drop among them, the packets on the wire are of MTU size, nothing is faster than
// an idle fabric, and all of it happens again.
func TestVirtualKernelTCP(t *testing.T) {
	t.Parallel()
	path, dir := virtualBinary(t)
	if err := os.WriteFile(filepath.Join(dir, "tcp.yaml"), []byte(kernelTCPScenario), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(out, variants string) (s results.Summary) {
		cmd := exec.Command(path,
			"run", "tcp.yaml", "--engine", "virtual", "--json", "--out", out, "--variant", variants)
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := run("a", "tcp-dctcp,tcp-cubic,tcp-bbr,tcp-reno")
	for _, v := range s.Variants {
		c := v.Counters
		offered := c["messages_offered"]
		if offered == 0 || c["messages_delivered"] != offered || c["messages_acked"] != offered ||
			c["payload_mismatches"] != 0 {
			t.Errorf("%s: %v", v.Variant, c)
		}
		k := v.Conserved
		if k == nil || k.Sent == 0 || k.Sent != k.Received+k.Drops || k.Drops == 0 || c["retransmissions"] == 0 {
			t.Errorf("%s: conservation %+v, %d retransmissions", v.Variant, k, c["retransmissions"])
		}
		if low := v.Slowdown[results.Exact][results.AllSizes].Min; low < 1 {
			t.Errorf("%s: a slowdown of %g", v.Variant, low)
		}
		for _, check := range v.Checks {
			// How late loops are is counted in packet times, and at a dilation of 10 the
			// kernel's own clock reads show.
			late := strings.Contains(check.Name, "lateness") || check.Name == "generator lag"
			if check.Level == results.Invalid || check.Level == results.Degraded && !late {
				t.Errorf("%s: %+v", v.Variant, check)
			}
		}
		if v.Dilation != 10 {
			t.Errorf("%s: dilation %d", v.Variant, v.Dilation)
		}
		const buffers = ", tcp_rmem 4096 131072 6291456, tcp_wmem 4096 16384 4194304"
		if !strings.Contains(strings.Join(v.Notes, "\n"), strings.TrimPrefix(v.Protocol, "tcp-")+buffers) {
			t.Errorf("%s: notes %q", v.Variant, v.Notes)
		}
	}
	first, again := s.Variants[1], run("b", "tcp-dctcp").Variants[0]
	if first.Variant != again.Variant || first.Digest != again.Digest {
		t.Errorf("%s and %s: digests %s and %s", first.Variant, again.Variant, first.Digest, again.Digest)
	}
	captures, _ := filepath.Glob(filepath.Join(dir, "a", "variants", "*", "captures", "*.pcapng"))
	if len(captures) != 8 {
		t.Errorf("captures: %v", captures)
	}
	for _, path := range captures {
		wirePackets(t, path)
	}
}

// A message of 66 segments takes one round trip where connections begin with as many, and
// more with the kernel's own 10 (baselines/tcp/README, Parameters).
func TestVirtualInitialWindow(t *testing.T) {
	t.Parallel()
	path, dir := virtualBinary(t)
	const scenario = `name: initcwnd
topology: {leaves: 1, hosts_per_leaf: 2, host_rate: 100Gbps, host_delay: 1.25us, mtu: 1500B}
protocol: tcp-reno
traffic:
  - {name: one, pattern: fixed, from: [h1-1], to: [h1-2], size: 95568B, interval: 1ms, phase: zero}
duration: 100us
drain: 1ms
`
	if err := os.WriteFile(filepath.Join(dir, "initcwnd.yaml"), []byte(scenario), 0o666); err != nil {
		t.Fatal(err)
	}
	slowdown := map[string]float64{}
	for _, window := range []string{"0", "66"} {
		cmd := exec.Command(path, "run", "initcwnd.yaml", "--engine", "virtual", "--json", "--out", "w"+window,
			"--set", "tcp-reno.initcwnd="+window)
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var s results.Summary
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		slowdown[window] = s.Variants[0].Slowdown[results.Exact][results.AllSizes].Max
		notes := s.Variants[0].Notes
		if noted := strings.Contains(strings.Join(notes, "\n"), "initcwnd 66"); noted != (window == "66") {
			t.Errorf("initcwnd %s: notes %q", window, notes)
		}
	}
	if slowdown["66"] > 1.1 || slowdown["0"] < 1.3 {
		t.Errorf("slowdown by initial window: %v, want no more than 1.1 with 66, and 1.3 and more with 0", slowdown)
	}
}

// wirePackets checks that a capture's TCP segments are packets of the wire: no
// larger than the MTU, and with data.
func wirePackets(t *testing.T, path string) {
	f, err := topo.New(topo.Spec{
		Leaves: 2, Spines: 2, HostsPerLeaf: 3, HostRate: 100 * units.Gbps, CoreRate: 400 * units.Gbps, MTU: 1500,
	})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	full := 0
	for frame, err := range capture.Frames(file, f) {
		if err != nil {
			t.Fatal(err)
		}
		if frame.Len > 1514 || frame.At < 0 || frame.At > 100*units.Millisecond {
			t.Fatalf("%s: a frame of %d bytes at %v", path, frame.Len, frame.At)
		}
		if frame.Len == 1514 {
			full++
		}
	}
	if full == 0 {
		t.Errorf("%s: no full segment", path)
	}
}

// Hosts cannot delay the packets of their kernel. Where links cannot delay them
// either, kernel TCP is refused; where they can, its timers are too short.
func TestRealKernelTCP(t *testing.T) {
	b := build(t)
	out, err := b.command("run", "real.yaml", "--out", "r", "--json", "--set", "protocol=tcp-cubic").CombinedOutput()
	if strings.Contains(string(out), "CONFIG_NET_SCH_NETEM") || strings.Contains(string(out), "CONFIG_IFB") {
		if code(err) != exitBadInput || !strings.Contains(string(out), "use --engine virtual") {
			t.Errorf("%v\n%s", err, out)
		}
		b.gone()
		return
	}
	text, err := os.ReadFile(filepath.Join(b.dir, "r", "summary.json"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var s results.Summary
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	if s.Verdict == results.Pass || !strings.Contains(strings.Join(s.Reasons, "\n"), "kernel timers: dilation 200") {
		t.Errorf("verdict %s: %q", s.Verdict, s.Reasons)
	}
	b.gone()
}
