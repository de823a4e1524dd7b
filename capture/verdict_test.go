package capture

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"sirdbed/emu"
	"sirdbed/sirdnode/record"
	"sirdbed/topo/units"
)

// Every reason that a run can be doubted for, one at a time, on a run that
// passes without it. A full packet lasts 123 ns.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*fakeRun)
		level  Level
		reason string // part of the only reason
	}{
		{"nothing", func(r *fakeRun) {}, Pass, ""},
		{"a little late", func(r *fakeRun) { r.facts.Lateness.P99 = 120 }, Pass, ""},
		{"late", func(r *fakeRun) { r.facts.Lateness.P99 = 300 }, Degraded, "wake-up lateness: p99 300ns, 2.4 packet times"},
		{"a long tail", func(r *fakeRun) { r.facts.Lateness.P999 = 2 * us }, Degraded, "wake-up lateness"},
		{"far too late", func(r *fakeRun) { r.facts.Lateness.P99 = 2 * us }, Invalid, "wake-up lateness"},
		{"one host late", func(r *fakeRun) { r.facts.Hosts[2].Lateness.P99 = 3 * us }, Invalid, "h2-1"},
		{"not measured", func(r *fakeRun) {
			r.facts.Lateness = emu.Lateness{}
			for i := range r.facts.Hosts {
				r.facts.Hosts[i].Lateness = emu.Lateness{}
			}
		}, Degraded, "not measured"},
		{"generator behind", func(r *fakeRun) { r.facts.Hosts[1].Generator.P99 = us }, Degraded, "generator lag: p99 1us, 8.13 packet times (h1-2)"},
		{"generator far behind", func(r *fakeRun) { r.facts.Hosts[1].Generator.P99 = 20 * us }, Invalid, "generator lag"},
		{"samples late", func(r *fakeRun) { r.facts.SampleLateness = emu.Lateness{Count: 9, P99: 11 * us} }, Degraded, "queue sampling"},
		{"steal", func(r *fakeRun) { r.facts.Steal = 0.05 }, Degraded, "CPU steal: 5.0 %"},
		{"busy", func(r *fakeRun) { r.facts.ThreadCPU = 0.97 }, Degraded, "busiest loop: 97.0 %"},
		{"ring drops", func(r *fakeRun) { r.facts.Hosts[0].RingDrops = 1; r.facts.Hosts[0].Received-- }, Invalid, "socket drops: 1 packets"},
		{"kernel drops", func(r *fakeRun) { r.facts.SoftnetDrops = 2; r.facts.Hosts[0].Received -= 2 }, Invalid, "kernel drops: 2"},
		{"link drops", func(r *fakeRun) { r.facts.LinkDrops = 2; r.facts.Hosts[0].Received -= 2 }, Invalid, "link drops: 2"},
		{"capture drops", func(r *fakeRun) { r.facts.CaptureDrops = 2 }, Degraded, "capture drops: 2"},
		{"corruption", func(r *fakeRun) { r.facts.Hosts[0].Corrupt = 2 }, Invalid, "corruption: 2"},
		{"corruption on purpose", func(r *fakeRun) { r.facts.Hosts[0].Corrupt, r.facts.Hosts[0].Flipped = 2, 2 }, Pass, ""},
		{"corruption by others", func(r *fakeRun) { r.facts.Hosts[0].Corrupt, r.facts.Hosts[0].Flipped = 3, 2 }, Invalid, "3 packets failed their checksum, 2 were"},
		{"corruption not found", func(r *fakeRun) { r.facts.Hosts[0].Corrupt, r.facts.Hosts[0].Flipped = 2, 3 }, Invalid, "3 packets were damaged on purpose, 2 failed"},
		{"queue drops", func(r *fakeRun) { r.facts.Ports[3].Drops = 40; r.facts.Hosts[0].Received -= 40 }, Pass, ""},
		{"credit drops", func(r *fakeRun) { r.facts.Ports[3].CreditDrops = 40; r.facts.Hosts[0].Received -= 40 }, Pass, ""},
		{"in flight", func(r *fakeRun) { r.facts.Hosts[0].Received -= 40 }, Pass, ""},
		{"packets lost", func(r *fakeRun) { r.facts.Hosts[0].Sent += 10000 }, Invalid, "conservation: 14000 sent, 4000 received, 0 dropped by queue limits, 0 credits dropped, 0 lost elsewhere: 10000 are missing"},
		{"packets from nowhere", func(r *fakeRun) { r.facts.Hosts[0].Received += 3 }, Invalid, "3 more than were sent"},
		{"faster than its link", func(r *fakeRun) { r.facts.Ports[3].WireBytes = 126_000_000 }, Invalid, "link rate: at most 100."},
		{"at its link's rate", func(r *fakeRun) { r.facts.Ports[3].WireBytes = 125_000_000 }, Pass, ""},
		{"host lost", func(r *fakeRun) { r.facts.Hosts[3].Finished = false }, Invalid, "hosts: 1 of 4 hosts did not finish: h2-2"},
		{"host lost, and its totals with it", func(r *fakeRun) { r.facts.Hosts[3] = emu.HostFacts{Name: "h2-2"} }, Invalid, "hosts: 1 of 4"},
		{"last words", func(r *fakeRun) { r.facts.Failure = "h2-2 died:\npanic: at the disco\n\ngoroutine 1" }, Invalid, "h2-2 died: panic: at the disco"},
		{"failure", func(r *fakeRun) { r.facts.Failure = "h2-2: killed" }, Invalid, "run: it failed: h2-2: killed"},
		{"interrupted", func(r *fakeRun) { r.facts.Failure, r.facts.Reached = "context canceled", 5*ms }, Invalid, "run: it was interrupted at 5ms of a window from 1ms to 9ms"},
		{"rates rounded a little", func(r *fakeRun) { r.facts.Ports[3].RateError, r.facts.Ports[3].SmallRateError = 0.0008, 0.02 }, Pass, ""},
		{"rates rounded", func(r *fakeRun) { r.facts.Ports[3].RateError = -0.002 }, Degraded, "rounded rates: at most 0.2000 % off ("},
		{"rates rounded by much", func(r *fakeRun) { r.facts.Ports[3].RateError = 0.025 }, Invalid, "rounded rates: at most 2.5000 %"},
		{"faster than light", func(r *fakeRun) { r.message(0, 1, 1, 0, 1000, 2*ms, 2*ms+us) }, Invalid, "fastest message: 1.672us less than 2.672us unloaded (exact)"},
		{"faster than headers allow", func(r *fakeRun) { r.message(0, 1, 1, 0, 146000, 2*ms, 2*ms+14400) }, Invalid, "(exact)"},
		{"as fast as bursts allow", func(r *fakeRun) { r.message(0, 1, 1, 0, 1000, 2*ms, 2*ms+2400) }, Pass, ""},
		{"exact time", exact(func(r *fakeRun) {}), Pass, ""},
		{"not so exact", exact(func(r *fakeRun) { r.facts.Lateness.Max = 20 }), Degraded, "virtual time: at most 20ns late: a wake-up, 0.163 packet times"},
		{"not exact", exact(func(r *fakeRun) { r.facts.Hosts[2].Lateness.Max = 200 }), Invalid, "virtual time: at most 200ns late: a wake-up of h2-1"},
		{"late messages", exact(func(r *fakeRun) { r.facts.Hosts[2].Generator.Max = 20 }), Degraded, "a message of h2-1"},
		{"late samples", exact(func(r *fakeRun) { r.facts.SampleLateness = emu.Lateness{Count: 9, Max: 20} }), Degraded, "a sample of the queues"},
		{"ended early", func(r *fakeRun) { r.facts.Reached = 5 * ms }, Invalid, "run: it ended at 5ms of a window from 1ms to 9ms"},
		{"no facts", func(r *fakeRun) { r.facts = nil }, Invalid, "facts: facts.json is missing"},
		{"host log cut", func(r *fakeRun) { r.cut["h1-2"] = true }, Invalid, "host log: h1-2: log was cut off"},
		{"queue log cut", func(r *fakeRun) { r.cut["queues"] = true }, Degraded, "queue log: queues: log was cut off"},
		{"a note", func(r *fakeRun) { r.hosts[0] = append(r.hosts[0], record.Record{Kind: record.Note, Text: "hello"}) }, Pass, ""},
		{"what waited leaves later", func(r *fakeRun) {
			r.facts.PortsAt, r.facts.Ports[3].WireBytes, r.facts.Ports[3].LateBytes = 10*ms, 130_000_000, 6_000_000
		}, Pass, ""},
		{"faster than its link by the end", func(r *fakeRun) {
			r.facts.PortsAt, r.facts.Ports[3].WireBytes, r.facts.Ports[3].LateBytes = 10*ms, 130_000_000, 4_000_000
		}, Invalid, "link rate: at most 100."},
		{"kernel TCP", func(r *fakeRun) { r.kernel(10) }, Pass, ""},
		{"kernel TCP on rounded rates", func(r *fakeRun) { r.kernel(10); r.facts.Ports[3].RateError = 0.002 }, Pass, ""},
		{"kernel TCP on badly rounded rates", func(r *fakeRun) { r.kernel(10); r.facts.Ports[3].RateError = 0.003 }, Degraded, "rounded rates: at most 0.3000 % off ("},
		{"kernel TCP too slow", func(r *fakeRun) { r.kernel(1000) }, Degraded, "kernel timers: dilation 1000: the kernel's timers are not stretched, so that TCP's are shorter by that in nominal time (least retransmission timeout 200us)"},
		{"kernel TCP loses segments", func(r *fakeRun) { r.kernel(1); r.facts.Hosts[0].Received -= 5000 }, Invalid, "conservation: "},
		{"a late model", func(r *fakeRun) { r.facts.Engine, r.facts.Lateness.P99 = "model", 50*us }, Pass, ""},
		{"a leaking model", func(r *fakeRun) { r.facts.Engine = "model"; r.facts.Hosts[0].Received += 3 }, Invalid, "more than were sent"},
	} {
		r := newRun(t, oneWay)
		r.message(0, 1, 0, 0, 1000, 2*ms, 2*ms+9*us)
		c.change(r)
		v := r.analyze(t).Verdict
		ok := v.Level == c.level && (c.reason == "") == (len(v.Reasons) == 0)
		if c.reason != "" {
			ok = ok && len(v.Reasons) == 1 && strings.Contains(v.Reasons[0], c.reason)
		}
		if !ok {
			t.Errorf("%s: %s %q, want %s %q", c.name, v.Level, v.Reasons, c.level, c.reason)
		}
	}
}

// exact makes a run one of a virtual kernel, in which nothing is late and ports
// have no bursts.
func exact(change func(*fakeRun)) func(*fakeRun) {
	return func(r *fakeRun) {
		r.facts.Engine, r.facts.Features = "virtual", emu.Features{}
		r.facts.Lateness = emu.Lateness{Count: 1000, Max: 1}
		for h := range r.facts.Hosts {
			r.facts.Hosts[h].Lateness, r.facts.Hosts[h].Generator = emu.Lateness{Count: 100}, emu.Lateness{Count: 10}
		}
		change(r)
	}
}

// kernel makes the run one of the hosts' kernel TCP.
func (r *fakeRun) kernel(dilation units.Dilation) {
	r.facts.Dilation = dilation
	for i := range r.facts.Hosts {
		r.facts.Hosts[i].Kernel = true
	}
}

// With kernel TCP it is told whose packets were counted, and nothing is said of
// rings that there are not.
func TestVerdictOfKernelTCP(t *testing.T) {
	r := newRun(t, oneWay)
	r.message(0, 1, 0, 0, 1000, 2*ms, 2*ms+9*us)
	r.kernel(2)
	seen := map[string]Check{}
	for _, c := range r.analyze(t).Verdict.Checks {
		seen[c.Name] = c
	}
	if c := seen["conservation"]; c.Level != Pass || !strings.Contains(c.Limit, "TCP segments, as the hosts' kernels count them") {
		t.Errorf("%+v", c)
	}
	if _, ok := seen["socket drops"]; ok || seen["kernel timers"].Level != Pass {
		t.Errorf("checks %v", seen)
	}
}

func TestDeparturesFasterThanTheLinkAreInvalid(t *testing.T) {
	r := newRun(t)
	q := &PortQueue{Port: r.f.Downlink(0)}
	for i := range 100 {
		q.Left = append(q.Left, Departure{units.Time(i) * 124, 1514})
	}
	v := &Variant{Fabric: r.f, Facts: r.facts, Captures: []*Reconstruction{{Ports: []*PortQueue{q}}}}
	level := func() Level {
		j := judge{v: v}
		j.departures()
		return j.verdict().Level
	}
	if got := level(); got != Pass {
		t.Errorf("at link rate: %s", got)
	}
	// A burst of two packets is allowed by the engine's word, one of three is not.
	q.Left = append(q.Left, Departure{20 * us, 1514}, Departure{20 * us, 1514}, Departure{20 * us, 1514}, Departure{20 * us, 1514})
	if got := level(); got != Pass {
		t.Errorf("with a burst of 3076 bytes: %s", got)
	}
	q.Left = append(q.Left, Departure{20 * us, 1514})
	if got := level(); got != Invalid {
		t.Errorf("with more: %s", got)
	}
	if math.Abs(float64(q.excess()-4*1538)) > 1 {
		t.Errorf("five packets at once are %v ahead", q.excess())
	}
}

func TestManyProblemsAreToldInPart(t *testing.T) {
	r := newRun(t, oneWay)
	for i := range 500 {
		r.message(0, 1, i, 0, 1000, 2*ms, 2*ms+9*us)
		r.log(1, record.Delivered, 0, i, 0, 3*ms, 1000)
	}
	if v := r.analyze(t); len(v.Problems) > maxProblems+1 || len(v.Verdict.Reasons[0]) > 500 {
		t.Errorf("%d problems, %q", len(v.Problems), v.Verdict.Reasons)
	}
}

// A burst is bytes, or a time of the machine's clock, which dilation stretches.
func TestBurst(t *testing.T) {
	for features, want := range map[string]units.Bytes{`{"burst": "9038B"}`: 9038, `{"burst_time": "100µs"}`: 1250, `{}`: 0} {
		r := newRun(t)
		r.facts.Features = emu.Features{}
		if err := json.Unmarshal([]byte(features), &r.facts.Features); err != nil {
			t.Fatal(err)
		}
		j := judge{v: &Variant{Fabric: r.f, Facts: r.facts}}
		if got := j.burst(r.f.Downlink(0)); got != want { // at 100 Gbps and dilation 1000
			t.Errorf("%v: %v, want %v", features, got, want)
		}
	}
}
