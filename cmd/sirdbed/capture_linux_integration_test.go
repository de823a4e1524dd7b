//go:build linux && !portable

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sirdbed/capture/results"
	"sirdbed/sirdnode/sird"
)

// The rates of incast.yaml at its receiver, shorter.
const capturedScenario = `name: captured
topology: {leaves: 1, hosts_per_leaf: 4, host_rate: 100Gbps, host_delay: 4.135us, mtu: 9000B}
sird: {bdp: 216912B, b: 1.5, credit_rate: 0.98, priorities: none}
traffic:
  - {name: background, pattern: fixed, from: [h1-1, h1-2, h1-3], to: [h1-4], size: 1MB, rate: 34Gbps}
  - {name: small, pattern: fixed, from: [h1-1], to: [h1-4], size: 8B, interval: 40us, reply: 8B}
  # Each of these makes a queue.
  - {name: unscheduled, pattern: fixed, from: [h1-1, h1-2, h1-3], to: [h1-4], size: 150KB, interval: 500us}
duration: 4ms
drain: 2ms
dilation: 600
capture: [leaf1, h1-4]
`

func TestCapturesOfARealRun(t *testing.T) {
	b := build(t)
	b.write("captured.yaml", capturedScenario)
	out, err := b.command("run", "captured.yaml", "--out", "r").CombinedOutput()
	if got := code(err); got != exitFine && got != exitInvalid {
		t.Fatalf("exit code %d\n%s", got, out)
	}
	t.Run("agree with samples", func(t *testing.T) { capturesAgree(t, b) })
	t.Run("are read by tshark", func(t *testing.T) { tsharkReads(t, b) })
}

// What captures show of a real run is what queue samples and counters say: no
// packet is missed, and the queue rebuilt from a capture is the sampled one.
func capturesAgree(t *testing.T, b *program) {
	_, variants := b.result("r")
	v := variants[0]
	if v.Facts.CaptureDrops > 0 {
		t.Errorf("captures missed %d packets", v.Facts.CaptureDrops)
	}
	var sent int64
	for _, h := range v.Facts.Hosts {
		sent += h.Sent
	}
	if len(v.Captures) != 1 || int64(v.Captures[0].Frames) != 2*sent {
		t.Errorf("leaf1 captured %d frames, of %d packets that came and went", v.Captures[0].Frames, sent)
	}
	deepest := 0
	for _, a := range v.Agreements {
		if s := v.Queue.Ports[a.Port]; s.Max > 0 {
			deepest = max(deepest, int(s.Max))
			t.Logf("%s: %d samples, %.2f %% within 2 packets, at most %d apart, mean %.3f; queue up to %d B",
				a.Port, a.Samples, 100*a.Share(), a.MaxPackets, a.Mean, s.Max)
		}
		// Queues change slowly: samples of the wrong time are often within 2
		// packets too, but not the same on average.
		if a.Samples < 50 || a.Share() < 0.99 || a.Mean > 0.05 {
			t.Errorf("%s: %.2f %% of %d samples within 2 packets of the capture, mean %.3f, at most %d apart",
				a.Port, 100*a.Share(), a.Samples, a.Mean, a.MaxPackets)
		}
	}
	if deepest < 20_000 {
		t.Errorf("the deepest queue had %d B: this test compares nothing", deepest)
	}
	if c := check(v, "departures"); c == nil || c.Level != results.Pass {
		t.Errorf("departures: %+v", c)
	}
}

// tshark reads the captures of a real run, knows their interfaces by the ports'
// names, and finds nothing malformed. It has to be told that the port's packets
// are data, or it takes some for RTCP, by their looks.
func tsharkReads(t *testing.T, b *program) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		if os.Getenv("SIRDBED_REQUIRE_TSHARK") == "1" {
			t.Fatal("tshark is not installed, and SIRDBED_REQUIRE_TSHARK=1")
		}
		t.Skip("tshark is not installed (apt install tshark)")
	}
	port := fmt.Sprintf("udp.port==%d,data", sird.Port)
	for node, ports := range map[string][]string{
		"leaf1": {"leaf1>h1-4", "h1-4>leaf1", "h1-1>leaf1"}, "h1-4": {"leaf1>h1-4", "h1-4>leaf1"},
	} {
		file := filepath.Join("r", "variants", "sird", "captures", node+".pcapng")
		var stderr strings.Builder
		cmd := b.other(tshark, "-r", file, "-n", "-d", port, "-o", "ip.check_checksum:TRUE",
			"-T", "fields", "-E", "separator=|", "-e", "frame.interface_name", "-e", "frame.time_epoch",
			"-e", "udp.dstport", "-e", "ip.checksum.status", "-e", "_ws.malformed")
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("tshark %s: %v: %s", node, err, stderr.String())
		}
		seen := map[string]int{}
		for line := range strings.Lines(string(out)) {
			f := strings.Split(strings.TrimSpace(line), "|")
			if len(f) != 5 || f[2] != fmt.Sprint(sird.Port) || f[3] != "1" && f[3] != "Good" || f[4] != "" {
				t.Fatalf("%s: tshark finds %q", node, f)
			}
			if at, err := strconv.ParseFloat(f[1], 64); err == nil && at > 0.01 { // newer versions write dates
				t.Fatalf("%s: a frame at %v s, which is not nominal", node, at)
			}
			seen[f[0]]++
		}
		for _, port := range ports {
			if seen[port] < 50 {
				t.Errorf("%s: %d frames of %s (%v)", node, seen[port], port, seen)
			}
		}
	}
}
