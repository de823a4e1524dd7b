//go:build linux

package real

import (
	"testing"
	"time"

	"sirdbed/emu"
	"sirdbed/sirdnode/clock"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

func rackOf(t *testing.T, hosts int, rate units.BitsPerSecond) *topo.Fabric {
	t.Helper()
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: hosts, HostRate: rate, HostDelay: units.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// late is wake-ups whose 90th and 99th percentiles are a time.
func late(t time.Duration) WakeUps { return WakeUps{P90: t, P99: t} }

// A full packet of 1538 wire bytes lasts 123 ns at 100 Gbps, and 1.23 us at 10.
func TestDilation(t *testing.T) {
	idle := []traffic.Stream{{Name: "idle", Pattern: traffic.PatternFixed, Size: 8, Interval: units.Second,
		From: []string{"h1-1"}, To: []string{"h1-2"}}}
	full := []traffic.Stream{{Name: "full", Pattern: traffic.PatternPoisson, Size: units.Megabyte, Load: 1}}
	loop := []traffic.Stream{{Name: "loop", Pattern: traffic.PatternOutcast, From: []string{"h1-1"},
		To: []string{"h1-2"}, Size: units.Megabyte}}
	broken := []traffic.Stream{{Name: "broken", Pattern: "none"}}
	us := time.Microsecond
	for _, c := range []struct {
		name     string
		machine  Machine
		hosts    int
		rate     units.BitsPerSecond
		streams  []traffic.Stream
		from, to units.Dilation
	}{
		{"at least one step", Machine{CPUs: 64}, 2, units.Gbps, idle, dilationStep, dilationStep},
		{"1.4 times the lateness", Machine{CPUs: 64, Crowd: late(10 * us)}, 2, 100 * units.Gbps, idle, 120, 120},
		{"of a slower link", Machine{CPUs: 64, Crowd: late(100 * us)}, 2, 10 * units.Gbps, idle, 120, 120},
		{"but no longer than enough", Machine{CPUs: 64, Crowd: late(10 * time.Second)}, 2, 100 * units.Gbps, idle, 3260,
			3260},
		// 2 hosts send 2 x 8.6 million packets of data a second, and as many of control, of 14 us each.
		{"by what the machine carries", Machine{CPUs: 2}, 2, 100 * units.Gbps, full, 450, 520},
		{"with twice the processors", Machine{CPUs: 4}, 2, 100 * units.Gbps, full, 225, 260},
		{"a closed loop fills its link", Machine{CPUs: 2}, 2, 100 * units.Gbps, loop, 225, 260},
		{"unknown streams fill all links", Machine{CPUs: 2}, 2, 100 * units.Gbps, broken, 450, 520},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.machine.Dilation(rackOf(t, c.hosts, c.rate), &emu.Experiment{Protocol: "sird", Streams: c.streams})
			if got < c.from || got > c.to || got%dilationStep != 0 {
				t.Errorf("got %d, want %d to %d in steps of %d", got, c.from, c.to, dilationStep)
			}
		})
	}
}

// What a late timer has missed is made good, up to a full packet of the fastest link.
func TestBurstTime(t *testing.T) {
	f := rackOf(t, 2, 100*units.Gbps)
	for _, c := range []struct {
		name     string
		timer    time.Duration
		dilation units.Dilation
		want     time.Duration
	}{
		{"ten times the lateness", time.Microsecond, 1000, 10 * time.Microsecond},
		{"at most a full packet", time.Millisecond, 1000, 123 * time.Microsecond},
		{"by the dilated clock", time.Millisecond, 10, 1230 * time.Nanosecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (&Machine{Timer: late(c.timer)}).BurstTime(f, c.dilation); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// The machine's figures are measured where the platform has none.
func TestMeasuredMachine(t *testing.T) {
	m := (&Platform{}).machine(2, Means{})
	if m.CPUs < 1 || m.Timer.P90 <= 0 || m.Crowd.P90 <= 0 || m.Crowd.P999 < m.Crowd.P90 {
		t.Errorf("got %+v, want processors, and timers that are late by some time", m)
	}
	if KernelRelease() == "" {
		t.Error("the kernel has no release")
	}
}

// Of time that has not passed nobody has stolen a share; of all since the start it is one.
func TestSteal(t *testing.T) {
	if now := readSteal(); now.total <= 0 {
		t.Errorf("got %+v, want processor time", now)
	}
	if got := (stealClock{total: 1 << 62}).since(); got != 0 {
		t.Errorf("got a share of %v, want 0", got)
	}
	if got := (stealClock{}).since(); got < 0 || got >= 1 {
		t.Errorf("got a share of %v, want one", got)
	}
}

// One of few messages that was late is none of their percentiles.
func TestOneOfFewMessagesWasLate(t *testing.T) {
	for _, c := range []struct {
		late      []int64
		p99, most units.Time
	}{
		{nil, 0, 0},
		{[]int64{20}, 20, 20},
		{[]int64{1, 20}, 1, 20},
		{[]int64{1, 2, 3, 4, 5, 6, 20}, 6, 20},
		{[]int64{1, 1, 1, 1, 20, 20}, 20, 20},
	} {
		var l clock.Lateness
		for _, ns := range c.late {
			l.Add(ns)
		}
		if got := latenessOfFew(&l); got.P99 != c.p99 || got.P999 != c.p99 || got.Max != c.most {
			t.Errorf("%v: got %+v, want %v and %v at most", c.late, got, c.p99, c.most)
		}
	}
}
