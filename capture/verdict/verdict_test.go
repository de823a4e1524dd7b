package verdict

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"sirdbed/capture"
	"sirdbed/capture/internal/fakerun"
	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/sirdnode/record"
	"sirdbed/topo/units"
)

// Short names for the table of TestVerdict.
type fake = fakerun.Run

const (
	pass     = results.Pass
	degraded = results.Degraded
	invalid  = results.Invalid
)

// Every reason that a run can be doubted for, one at a time, on a run that
// passes without it. A full packet lasts 123 ns. Each check has a row for each
// level that its thresholds name.
func TestVerdict(t *testing.T) {
	doubted := map[string]map[results.Level]bool{} // by check
	skipped := false
	doubt := func(v results.Verdict) {
		for _, reason := range v.Reasons {
			name, _, _ := strings.Cut(reason, ": ")
			if doubted[name] == nil {
				doubted[name] = map[results.Level]bool{}
			}
			doubted[name][v.Level] = true
		}
	}
	for _, c := range []struct {
		name   string
		change func(*fake)
		level  results.Level
		reason string // part of the only reason
	}{
		{"nothing", func(r *fake) {}, pass, ""},
		{"a little late", func(r *fake) { r.Facts.Lateness.P99 = 120 }, pass, ""},
		{"late", func(r *fake) { r.Facts.Lateness.P99 = 300 },
			degraded, "wake-up lateness: p99 300ns, 2.44 packet times"},
		{"late by a hair", func(r *fake) { r.Facts.Lateness.P99, r.Facts.Lateness.P999 = 124, 1231 },
			degraded, "p99 124ns, 1.01 packet times (all hosts; limit 1); p99.9 1.231us, 10.01 (all hosts; limit 10)"},
		{"a long tail", func(r *fake) { r.Facts.Lateness.P999 = 2 * us }, degraded, "wake-up lateness"},
		{"far too late", func(r *fake) { r.Facts.Lateness.P99 = 2 * us }, invalid, "wake-up lateness"},
		{"one host late", func(r *fake) { r.Facts.Hosts[2].Lateness.P99 = 3 * us }, invalid, "h2-1"},
		{"one host with a long tail", func(r *fake) {
			r.Facts.Hosts[1].Lateness.P99, r.Facts.Hosts[1].Lateness.P999 = 100, 110
			r.Facts.Hosts[2].Lateness.P99, r.Facts.Hosts[2].Lateness.P999 = 40, 5*us
		}, degraded, "p99.9 5us, 40.7 (h2-1; limit 10)"},
		{"not measured", func(r *fake) {
			r.Facts.Lateness = emu.Lateness{}
			for i := range r.Facts.Hosts {
				r.Facts.Hosts[i].Lateness = emu.Lateness{}
			}
		}, degraded, "not measured"},
		{"generator behind", func(r *fake) { r.Facts.Hosts[1].Generator.P99 = us },
			degraded, "generator lag: p99 1us, 8.13 packet times (h1-2; limit 2)"},
		{"generator far behind", func(r *fake) { r.Facts.Hosts[1].Generator.P99 = 20 * us },
			invalid, "generator lag"},
		{"one message late of few", func(r *fake) {
			r.Facts.Hosts[1].Generator = emu.Lateness{Count: 20, P99: 20 * us, P999: 20 * us, Max: 20 * us}
			r.Facts.FewMessages = emu.Lateness{Count: 20, P99: 60, P999: 60, Max: 20 * us}
		}, pass, ""},
		{"two messages late of few", func(r *fake) {
			r.Facts.FewMessages = emu.Lateness{Count: 20, P99: 20 * us, P999: 20 * us, Max: 20 * us}
		}, invalid, "generator lag: p99 20us, 162.6 packet times (hosts of few messages; limit 2, INVALID beyond 50)"},
		{"in real time", func(r *fake) {
			r.Facts.RealTime = &emu.RealTime{}
		}, degraded, "resolution: rates within 1 %, latencies to 50ns (p99 of wake-ups); not resolved"},
		{"in real time, with a window that fills no loop", func(r *fake) {
			r.Facts.RealTime = &emu.RealTime{}
			r.Facts.Loop = &emu.LoopFacts{Computed: 5 * us, Usual: 100 * ms, Window: 3076}
		}, invalid, "resolution: latencies to 50ns (p99 of wake-ups); not resolved, by what they may be off: median " +
			"latency (9 %), p99 of latency (33 %), goodput (100 %: a credit loop takes 100ms in place of 5us"},
		{"a host frozen", func(r *fake) {
			*r.Facts.Hosts[2].Stalls = emu.Stalls{Total: 800 * us, Longest: 700 * us}
		}, degraded, "stalls: 10.0 % of the window (h2-1, at most 700us at once; limit 1 %); " +
			"they delayed 5.00 % of all packets; ports were not watched, as queues were not sampled"},
		{"a host frozen for a hair too long", func(r *fake) {
			*r.Facts.Hosts[2].Stalls = emu.Stalls{Total: 80_400, Longest: 80_400}
		}, degraded, "stalls: 1.005 % of the window (h2-1, at most 80.4us at once; limit 1 %)"},
		{"a host stalled a little", func(r *fake) { r.Facts.Hosts[2].Stalls.Total = 80 * us }, pass, ""},
		{"all hosts stalled", func(r *fake) {
			for i := range r.Facts.Hosts {
				r.Facts.Hosts[i].Stalls.Total = 1100 * us
			}
		}, invalid, "they delayed 27.5 % of all packets (limit 25 %)"},
		{"all hosts stood still", func(r *fake) {
			for i := range r.Facts.Hosts {
				r.Facts.Hosts[i].Stalls.Total = 6 * ms
			}
		}, invalid, "they delayed 100.0 % of all packets (limit 25 %)"},
		{"an idle host frozen", func(r *fake) {
			h := &r.Facts.Hosts[2]
			h.Sent, h.Received, h.Stalls.Total = 0, 0, 8*ms
		}, degraded, "100.0 % of the window (h2-1, at most 0ns at once; limit 1 %); they delayed 0.0 % of all packets"},
		{"a port frozen", func(r *fake) {
			r.Facts.Ports[3].Stalls = &emu.Stalls{Total: 800 * us, Longest: 100 * us}
		}, degraded, "stalls: 10.0 % of the window (leaf1>h1-2, at most 100us at once; limit 1 %); they delayed " +
			"2.50 % of all packets"},
		{"stalls not measured", func(r *fake) {
			for i := range r.Facts.Hosts {
				r.Facts.Hosts[i].Stalls = nil
			}
		}, pass, ""},
		{"gaps between samples", func(r *fake) {
			r.Facts.SampleLateness = emu.Lateness{Count: 9, P99: 10}
			r.Facts.SampleStalls = &emu.Stalls{Total: 100 * us, Longest: 60 * us}
		}, degraded, "queue sampling: p99 10ns late, 0.0010 sampling intervals; gaps 1.25 % of the window " +
			"(at most 60us at once; limit 1 %)"},
		{"samples late", func(r *fake) { r.Facts.SampleLateness = emu.Lateness{Count: 9, P99: 11 * us} },
			degraded, "queue sampling"},
		{"samples late by a hair", func(r *fake) {
			r.Facts.SampleLateness = emu.Lateness{Count: 9, P99: 10001}
		}, degraded, "p99 10.001us late, 1.0001 sampling intervals (limit 1)"},
		{"generator behind by a hair", func(r *fake) { r.Facts.Hosts[1].Generator.P99 = 247 },
			degraded, "p99 247ns, 2.01 packet times (h1-2; limit 2)"},
		{"steal by a hair", func(r *fake) { r.Facts.Steal = 0.02004 },
			degraded, "2.004 % of CPU time taken by others (limit 2 %)"},
		{"looked at", func(r *fake) { r.Facts.CPUs, r.Facts.Live = 2, &emu.LiveFacts{CPU: 0.4, Reads: 9} }, pass, ""},
		{"looked at too much", func(r *fake) { r.Facts.CPUs, r.Facts.Live = 2, &emu.LiveFacts{CPU: 0.5, Bytes: 12e5} },
			degraded, "live view: 2.50 % of CPU time, in 0 reads of 1.2 MB (limit 2 %)"},
		{"looked at by who did not last", func(r *fake) { r.Facts.Live = &emu.LiveFacts{Lost: true} },
			degraded, "live view: it ended before the run, and has not said what it took"},
		{"steal", func(r *fake) { r.Facts.Steal = 0.05 },
			degraded, "CPU steal: 5.00 % of CPU time taken by others (limit 2 %)"},
		{"busy", func(r *fake) { r.Facts.ThreadCPU = 0.97 }, degraded, "busiest loop: 97.0 %"},
		{"busy by a hair", func(r *fake) { r.Facts.ThreadCPU = 0.9004 }, degraded, "90.04 % of its time spent working"},
		{"ring drops", func(r *fake) { r.Facts.Hosts[0].RingDrops = 1; r.Facts.Hosts[0].Received-- },
			invalid, "socket drops: 1 packet lost"},
		{"kernel drops", func(r *fake) { r.Facts.SoftnetDrops = 2; r.Facts.Hosts[0].Received -= 2 },
			invalid, "kernel drops: 2"},
		{"link drops", func(r *fake) { r.Facts.LinkDrops = 2; r.Facts.Hosts[0].Received -= 2 },
			invalid, "link drops: 2"},
		{"capture drops", func(r *fake) { r.Facts.CaptureDrops = 2 }, degraded, "capture drops: 2"},
		{"corruption", func(r *fake) { r.Facts.Hosts[0].Corrupt = 2 }, invalid, "corruption: 2"},
		{"corruption on purpose", func(r *fake) { r.Facts.Hosts[0].Corrupt, r.Facts.Hosts[0].Flipped = 2, 2 },
			pass, ""},
		{"corruption by others", func(r *fake) { r.Facts.Hosts[0].Corrupt, r.Facts.Hosts[0].Flipped = 3, 2 },
			invalid, "3 packets failed their checksum, 2 were"},
		{"corruption not found", func(r *fake) { r.Facts.Hosts[0].Corrupt, r.Facts.Hosts[0].Flipped = 2, 3 },
			invalid, "3 packets were damaged on purpose, 2 failed"},
		{"queue drops", func(r *fake) { r.Facts.Ports[3].Drops = 40; r.Facts.Hosts[0].Received -= 40 },
			pass, ""},
		{"credit drops", func(r *fake) { r.Facts.Ports[3].CreditDrops = 40; r.Facts.Hosts[0].Received -= 40 },
			pass, ""},
		{"in flight", func(r *fake) { r.Facts.Hosts[0].Received -= 24 }, pass, ""},
		{"more in flight than a drain leaves", func(r *fake) { r.Facts.Hosts[0].Received -= 40 },
			degraded, "0 lost elsewhere: 40 are missing, and a drained fabric has at most 24"},
		{"in flight while kernels send", func(r *fake) {
			r.Facts.Hosts[0].Received -= 40
			r.Facts.KernelPackets = &emu.KernelPackets{Sent: 70, Received: 70}
		}, pass, ""},
		{"packets lost", func(r *fake) { r.Facts.Hosts[0].Sent += 10000 },
			invalid, "conservation: 14000 sent, 4000 received, 0 dropped by queue limits, " +
				"0 credits dropped, 0 lost elsewhere: 10000 are missing"},
		{"packets from nowhere", func(r *fake) { r.Facts.Hosts[0].Received += 3 },
			invalid, "3 more than were sent"},
		{"programs' packets", func(r *fake) { r.Facts.KernelPackets = &emu.KernelPackets{Sent: 70, Received: 60} },
			pass, ""},
		{"programs' packets lost", func(r *fake) { r.Facts.KernelPackets = &emu.KernelPackets{Sent: 10000} },
			invalid, "of these the kernels' 10000 sent, 0 received: 10000 are missing"},
		{"programs' packets from nowhere", func(r *fake) { r.Facts.KernelPackets = &emu.KernelPackets{Received: 3} },
			invalid, "3 more than were sent"},
		{"a packet of the transport's from nowhere, among programs'", func(r *fake) {
			r.Facts.KernelPackets = &emu.KernelPackets{Sent: 70, Received: 60}
			r.Facts.Hosts[0].Received += 3
		}, invalid, "3 more of the transport's than were sent"},
		{"delays too short to be resolved", func(r *fake) {
			r.Facts.UndelayedPrograms = emu.KernelTime(100 * time.Microsecond)
		}, pass, ""},
		{"delays that programs lack", func(r *fake) {
			r.Facts.UndelayedPrograms = emu.KernelTime(time.Millisecond)
		}, degraded, "link delays: delays not emulated for the kernel's packets: up to 1000"},
		{"faster than its link", func(r *fake) { r.Facts.Ports[3].WireBytes = 126_000_000 },
			invalid, "link rate: at most 100."},
		{"at its link's rate", func(r *fake) { r.Facts.Ports[3].WireBytes = 125_000_000 }, pass, ""},
		{"host lost", func(r *fake) { r.Facts.Hosts[3].Finished = false },
			invalid, "hosts: 1 of 4 hosts did not finish: h2-2"},
		{"host lost, and its totals with it", func(r *fake) { r.Facts.Hosts[3] = emu.HostFacts{Name: "h2-2"} },
			invalid, "hosts: 1 of 4"},
		{"standard error", func(r *fake) { r.Facts.Failure = "h2-2 died:\npanic: at the disco\n\ngoroutine 1" },
			invalid, "h2-2 died: panic: at the disco"},
		{"failure", func(r *fake) { r.Facts.Failure = "h2-2: killed" },
			invalid, "run: it failed: h2-2: killed"},
		{"interrupted", func(r *fake) { r.Facts.Failure, r.Facts.Reached = "context canceled", 5*ms },
			invalid, "run: it was interrupted at 5ms of a window from 1ms to 9ms"},
		{"rates rounded a little",
			func(r *fake) { r.Facts.Ports[3].RateError, r.Facts.Ports[3].SmallRateError = 0.0008, 0.02 },
			pass, ""},
		{"rates rounded", func(r *fake) { r.Facts.Ports[3].RateError = -0.002 },
			degraded, "rounded rates: at most 0.200 % off (leaf1>h1-2; limit 0.1 %)"},
		{"rates rounded by much", func(r *fake) { r.Facts.Ports[3].RateError = 0.025 },
			invalid, "rounded rates: at most 2.50 % off (leaf1>h1-2; limit 0.1 %, INVALID beyond 1 %)"},
		{"faster than light", func(r *fake) { r.Message(0, 1, 1, 0, 1000, 2*ms, 2*ms+us) },
			invalid, "fastest message: 1.672us less than 2.672us unloaded"},
		{"faster than headers allow", func(r *fake) { r.Message(0, 1, 1, 0, 146000, 2*ms, 2*ms+14400) },
			invalid, "527ns less than 14.927us unloaded, 510ns are explained"},
		{"as fast as bursts allow", func(r *fake) { r.Message(0, 1, 1, 0, 1000, 2*ms, 2*ms+2400) }, pass, ""},
		{"exact time", exact(func(r *fake) {}), pass, ""},
		{"not so exact", exact(func(r *fake) { r.Facts.Lateness.Max = 20 }),
			degraded, "virtual time: at most 20ns late: a wake-up, 0.163 packet times"},
		{"not exact", exact(func(r *fake) { r.Facts.Hosts[2].Lateness.Max = 200 }),
			invalid, "virtual time: at most 200ns late: a wake-up of h2-1"},
		{"late messages", exact(func(r *fake) { r.Facts.Hosts[2].Generator.Max = 20 }),
			degraded, "a message of h2-1"},
		{"late samples", exact(func(r *fake) { r.Facts.SampleLateness = emu.Lateness{Count: 9, Max: 20} }),
			degraded, "a sample of the queues"},
		{"ended early", func(r *fake) { r.Facts.Reached = 5 * ms },
			invalid, "run: it ended at 5ms of a window from 1ms to 9ms"},
		{"no facts", func(r *fake) { r.Facts = nil }, invalid, "facts: facts.json is missing"},
		{"host log cut", func(r *fake) { r.Cut["h1-2"] = true }, invalid, "host log: h1-2: log was cut off"},
		{"queue log cut", func(r *fake) { r.Cut["queues"] = true },
			degraded, "queue log: queues: log was cut off"},
		{"a note",
			func(r *fake) { r.Hosts[0] = append(r.Hosts[0], record.Record{Kind: record.Note, Text: "hello"}) },
			pass, ""},
		{"what waited leaves later", func(r *fake) {
			r.Facts.PortsAt, r.Facts.Ports[3].WireBytes, r.Facts.Ports[3].LateBytes = 10*ms, 130_000_000, 6_000_000
		}, pass, ""},
		{"faster than its link by the end", func(r *fake) {
			r.Facts.PortsAt, r.Facts.Ports[3].WireBytes, r.Facts.Ports[3].LateBytes = 10*ms, 130_000_000, 4_000_000
		}, invalid, "link rate: at most 100."},
		{"kernel TCP", func(r *fake) { kernel(r, 10) }, pass, ""},
		{"kernel TCP on rounded rates", func(r *fake) { kernel(r, 10); r.Facts.Ports[3].RateError = 0.002 },
			pass, ""},
		{"kernel TCP on badly rounded rates",
			func(r *fake) { kernel(r, 10); r.Facts.Ports[3].RateError = 0.003 },
			degraded, "rounded rates: at most 0.300 % off (leaf1>h1-2; limit 0.25 %)"},
		{"kernel TCP too slow", func(r *fake) { kernel(r, 1000) },
			degraded, "kernel timers: dilation 1000 (limit 10): the kernel's timers are not stretched, " +
				"so that TCP's are shorter by that in nominal time (least retransmission timeout 200us)"},
		{"kernel TCP loses segments", func(r *fake) { kernel(r, 1); r.Facts.Hosts[0].Received -= 5000 },
			invalid, "conservation: "},
		{"a peer's clock is close", func(r *fake) {
			r.Facts.Hosts[1].Joined = &emu.JoinedFacts{ClockError: 400}
		}, pass, ""},
		{"a peer's clock is off", func(r *fake) {
			r.Facts.Hosts[1].Joined = &emu.JoinedFacts{ClockError: us, ClockDrift: 300}
		}, degraded, "peer clocks: h1-2 is within 1us (drift 300ns); median one way 9us, " +
			"off by at most 11 % (limit 5 %)"},
		{"a cable holds", func(r *fake) {
			r.Facts.Cables = []emu.CableFacts{{Host: "h1-2", Device: "eth7"}}
		}, pass, ""},
		{"a cable is pulled out", func(r *fake) {
			r.Facts.Cables = []emu.CableFacts{{Host: "h1-2", Device: "eth7", Losses: 2}}
		}, invalid, "cables: h1-2: lost carriers of device eth7: 2"},
		{"a device vanishes", func(r *fake) {
			r.Facts.Cables = []emu.CableFacts{{Host: "h1-2", Device: "eth7", Gone: true}}
		}, invalid, "cables: h1-2: device eth7 is gone"},
		{"a late model", func(r *fake) { r.Facts.Engine, r.Facts.Lateness.P99 = "model", 50*us }, pass, ""},
		{"a leaking model", func(r *fake) { r.Facts.Engine = "model"; r.Facts.Hosts[0].Received += 3 },
			invalid, "more than were sent"},
	} {
		ran := false
		t.Run(c.name, func(t *testing.T) {
			ran = true
			r := fakerun.New(t, fakerun.OneWay)
			r.Message(0, 1, 0, 0, 1000, 2*ms, 2*ms+9*us)
			c.change(r)
			v := judged(t, r).Verdict
			doubt(v)
			ok := v.Level == c.level && (c.reason == "") == (len(v.Reasons) == 0)
			if c.reason != "" {
				ok = ok && len(v.Reasons) == 1 && strings.Contains(v.Reasons[0], c.reason)
			}
			if !ok {
				t.Errorf("got %s %q, want %s %q", v.Level, v.Reasons, c.level, c.reason)
			}
		})
		skipped = skipped || !ran
	}

	// What a made-up run cannot show is doubted in its results.
	for _, c := range []struct {
		name   string
		change func(*results.Variant)
		level  results.Level
		reason string
	}{
		{"capture cut", func(v *results.Variant) {
			v.Problems = append(v.Problems, results.Problem{Kind: results.CaptureCut, Text: "leaf1: cut"})
		}, degraded, string(results.CaptureCut) + ": leaf1: cut"},
		{"a log changed afterwards", func(v *results.Variant) {
			v.Files = &results.Files{Checked: 7, Damaged: []string{"hosts/h1-1.rec is damaged"}}
		}, invalid, "files: hosts/h1-1.rec is damaged"},
		{"bytes that were not sent", func(v *results.Variant) { v.Counters["payload_mismatches"] = 3 },
			invalid, "integrity: 3 packets"},
		{"samples off by a hair", func(v *results.Variant) {
			v.Agreements = []results.Agreement{{Port: "leaf1>h1-2", Samples: 100_000, Within: 98_996, MaxPackets: 3}}
		}, degraded, "sampled queues: 98.996 % of 100000 samples within 2 packets (limit 99 %)"},
		{"a port too fast for a while", func(v *results.Variant) {
			q := &capture.PortQueue{Port: v.Fabric.Downlink(0)}
			for range 5 {
				q.Left = append(q.Left, capture.Departure{At: 20 * us, Len: 1514})
			}
			v.Captures = []*capture.Reconstruction{{Ports: []*capture.PortQueue{q}}}
		}, invalid, "departures: at most 6.152KB ahead of link rate (leaf1>h1-1; limit 4.614KB)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := fakerun.New(t, fakerun.OneWay)
			r.Message(0, 1, 0, 0, 1000, 2*ms, 2*ms+9*us)
			v := judged(t, r)
			c.change(v)
			got := Judge(v)
			doubt(got)
			if got.Level != c.level || len(got.Reasons) != 1 || !strings.Contains(got.Reasons[0], c.reason) {
				t.Errorf("got %s %q, want %s %q", got.Level, got.Reasons, c.level, c.reason)
			}
		})
	}

	if skipped { // by -run
		return
	}
	for _, c := range Checks() {
		if len(doubted[c.Name]) == 0 {
			t.Errorf("%s: no row doubts a run by it", c.Name)
		}
		for _, limit := range c.Thresholds {
			if !doubted[c.Name][limit.Level] {
				t.Errorf("%s: no row is %s by it, as beyond %g of %s", c.Name, limit.Level, limit.Limit, limit.Of)
			}
		}
	}
}

// exact makes a run one of a virtual kernel, in which nothing is late and ports
// have no bursts.
func exact(change func(*fakerun.Run)) func(*fakerun.Run) {
	return func(r *fakerun.Run) {
		r.Facts.Engine, r.Facts.Features = "virtual", emu.Features{}
		r.Facts.Lateness = emu.Lateness{Count: 1000, Max: 1}
		for h := range r.Facts.Hosts {
			r.Facts.Hosts[h].Lateness, r.Facts.Hosts[h].Generator = emu.Lateness{Count: 100}, emu.Lateness{Count: 10}
		}
		change(r)
	}
}

// kernel makes the run one of the hosts' kernel TCP.
func kernel(r *fakerun.Run, dilation units.Dilation) {
	r.Facts.Dilation = dilation
	for i := range r.Facts.Hosts {
		r.Facts.Hosts[i].Kernel = true
	}
}

// With kernel TCP it is told whose packets were counted, and nothing is said of
// rings that there are not.
func TestVerdictOfKernelTCP(t *testing.T) {
	r := fakerun.New(t, fakerun.OneWay)
	r.Message(0, 1, 0, 0, 1000, 2*ms, 2*ms+9*us)
	kernel(r, 2)
	seen := map[string]results.Check{}
	for _, c := range judged(t, r).Verdict.Checks {
		seen[c.Name] = c
	}
	if c := seen["conservation"]; c.Level != results.Pass ||
		!strings.Contains(c.Limit, "TCP segments, as the hosts' kernels count them") {
		t.Errorf("got %+v, want it passed, of TCP segments", c)
	}
	if _, ok := seen["socket drops"]; ok || seen["kernel timers"].Level != results.Pass {
		t.Errorf("checks %v: want none of socket drops, and kernel timers passed", seen)
	}
}

func TestDeparturesFasterThanTheLinkAreInvalid(t *testing.T) {
	r := fakerun.New(t)
	q := &capture.PortQueue{Port: r.F.Downlink(0)}
	for i := range 100 {
		q.Left = append(q.Left, capture.Departure{At: units.Time(i) * 124, Len: 1514})
	}
	v := &results.Variant{Fabric: r.F, Facts: r.Facts,
		Captures: []*capture.Reconstruction{{Ports: []*capture.PortQueue{q}}}}
	level := func() results.Level {
		j := judge{v: v}
		checkDepartures(&j)
		return j.verdict().Level
	}
	if got := level(); got != results.Pass {
		t.Errorf("at link rate: %s, want PASS", got)
	}
	// A burst of two packets is allowed by the engine's word, one of three is not.
	q.Left = append(q.Left, capture.Departure{At: 20 * us, Len: 1514}, capture.Departure{At: 20 * us, Len: 1514},
		capture.Departure{At: 20 * us, Len: 1514}, capture.Departure{At: 20 * us, Len: 1514})
	if got := level(); got != results.Pass {
		t.Errorf("with a burst of 3076 bytes: %s, want PASS", got)
	}
	q.Left = append(q.Left, capture.Departure{At: 20 * us, Len: 1514})
	if got := level(); got != results.Invalid {
		t.Errorf("with more: %s, want INVALID", got)
	}
	if math.Abs(float64(q.Excess()-4*1538)) > 1 {
		t.Errorf("five packets at once are %v ahead, want four packets", q.Excess())
	}
}

func TestManyProblemsAreToldInPart(t *testing.T) {
	r := fakerun.New(t, fakerun.OneWay)
	for i := range 500 {
		r.Message(0, 1, i, 0, 1000, 2*ms, 2*ms+9*us)
		r.Log(1, record.Delivered, 0, i, 0, 3*ms, 1000)
	}
	if v := judged(t, r); len(v.Problems) > 51 || len(v.Verdict.Reasons[0]) > 500 {
		t.Errorf("%d problems, want at most 51, in less than 500 bytes: %q", len(v.Problems), v.Verdict.Reasons)
	}
}

// A burst is bytes, or a time of the machine's clock, which dilation stretches.
func TestBurst(t *testing.T) {
	for features, want := range map[string]units.Bytes{`{"burst": "9038B"}`: 9038, `{"burst_time": "100µs"}`: 1250,
		`{}`: 0} {
		t.Run(features, func(t *testing.T) {
			r := fakerun.New(t)
			r.Facts.Features = emu.Features{}
			if err := json.Unmarshal([]byte(features), &r.Facts.Features); err != nil {
				t.Fatal(err)
			}
			j := judge{v: &results.Variant{Fabric: r.F, Facts: r.Facts}}
			if got := j.burst(r.F.Downlink(0)); got != want { // at 100 Gbps and dilation 1000
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}
