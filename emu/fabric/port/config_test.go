//go:build linux

package port

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric/rtnl"
	"sirdbed/topo/units"
)

func TestImpossibleConfigsAreRefused(t *testing.T) {
	for name, c := range map[string]Config{
		"rate":       {},
		"priorities": {Rate: units.Gbps, Priorities: 9},
		"limit":      {Rate: units.Gbps, Limit: MaxLimit + 1},
		"step":       {Rate: units.Gbps, Mark: -1},
		"share":      {Rate: units.Gbps, Credit: Credit{Share: 1.5}},
		"burst":      {Rate: units.Gbps, Burst: -1},
	} {
		t.Run(name, func(t *testing.T) {
			var b rtnl.Batch
			if err := c.Install(&b, 1, "lo"); err == nil || b.Len() != 0 {
				t.Errorf("got the error %v and %d requests, want an error and none", err, b.Len())
			}
		})
	}
}

// The kernel spaces frames by whole ns of its clock: at 400 Gbps a full packet
// takes 30.76 of them, over a dilation of 1000 it takes 30,760.
func TestRateError(t *testing.T) {
	for _, c := range []struct {
		nominal  units.BitsPerSecond
		dilation int64
		wire     units.Bytes
		want     float64
	}{
		{400 * units.Gbps, 1, 1538, 30.76/30 - 1},
		{400 * units.Gbps, 1000, 1538, 0},
		{100 * units.Gbps, 1, 84, 6.72/6 - 1},
		{100 * units.Gbps, 300, 1538, 0},
		{100, 3, 100, 32/33.333333 - 1}, // 4 bytes a second of 4.17: slower
	} {
		t.Run(fmt.Sprintf("%v at %d frames of %v", c.nominal, c.dilation, c.wire), func(t *testing.T) {
			rate := float64(c.nominal) / float64(c.dilation)
			config := Config{Rate: units.BitsPerSecond(rate + 0.5)}
			if got := config.RateError(rate, c.wire); math.Abs(got-c.want) > 1e-6 {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// A buffer is a time in ticks of 64 ns, never nothing, whatever the rate.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		burst, rate uint64
		want        uint32
	}{
		{1, 12500000, 2},                   // a byte at 100 Mbit/s: 80 ns
		{1, 50e9, 1},                       // less than a tick
		{15140, 1250000000, 190},           // 10 packets at 10 Gbit/s: 12.1 us
		{1 << 40, 1, 1<<32 - 1},            // saturated
		{1538, 1562500, 984320 / 64},       // a full frame at 12.5 Mbit/s
		{64 * 1000, 1000 * 1e6, 64e3 / 64}, // exact
	} {
		t.Run(fmt.Sprintf("%d bytes at %d", c.burst, c.rate), func(t *testing.T) {
			if got := ticks(c.burst, c.rate); got != c.want {
				t.Errorf("got %d ticks, want %d", got, c.want)
			}
		})
	}
}

// The marker's arithmetic is right from the slowest dilated link to the fastest.
func TestMarkerArithmetic(t *testing.T) {
	for _, rate := range []units.BitsPerSecond{1000, 12500 * units.Kbps, units.Gbps, 400 * units.Gbps} {
		t.Run(rate.String(), func(t *testing.T) {
			c, err := Config{Rate: rate, Mark: 30000}.defaulted()
			if err != nil {
				t.Fatal(err)
			}
			s := newMarkerState(&c)
			// The step as a time, back in bytes of frames.
			back := float64(s.Threshold) * float64(s.FrameBytes) / float64(s.FrameTime)
			if back < 29900 || back > 30100 {
				t.Errorf("the step comes back as %.0f bytes, want 30000", back)
			}
			want := float64(rate.TimeFor(1538*1000)) / 1000
			if got := float64(s.FrameTime) / (1 << timeShift); got < want*0.99 || got > want*1.01 {
				t.Errorf("a full frame takes %.2f ns, want %.2f", got, want)
			}
			if b := s.Threshold >> s.BucketShift; b < 8 || b > 16 {
				t.Errorf("the step lies in bucket %d, want 8 to 16", b)
			}
		})
	}
}

func TestMaxBurst(t *testing.T) {
	plain := Config{Rate: units.Gbps, Burst: 5000}
	if got := plain.MaxBurst(); got != 5000+1538 {
		t.Errorf("one class: %d, want %d", got, 5000+1538)
	}
	plain.Priorities = 8
	if got := plain.MaxBurst(); got != 5000+9*1538 {
		t.Errorf("eight levels: %d, want %d", got, 5000+9*1538)
	}
	plain.Levels = emu.PrioBands
	if got := plain.MaxBurst(); got != 5000+1538 {
		t.Errorf("eight levels of sch_prio: %d, want %d", got, 5000+1538)
	}
	plain.Credit.Share = 0.05
	if got := plain.MaxBurst(); got != 5000+2*1538+2*84 {
		t.Errorf("and credits: %d, want %d", got, 5000+2*1538+2*84)
	}
}

// RED cannot see several of HTB's classes at once; eBPF counts what it sends there.
func TestREDMarksSeveralLevelsOnlyUnderPrio(t *testing.T) {
	for _, c := range []struct {
		config Config
		ok     bool
	}{
		{Config{Priorities: 2, Levels: emu.HTBClasses}, false},
		{Config{Priorities: 2, Levels: emu.PrioBands}, true},
		{Config{Priorities: 1, Levels: emu.HTBClasses}, true},
		{Config{Priorities: 2, Levels: emu.HTBClasses, Marker: emu.EBPF}, true},
	} {
		c.config.Rate, c.config.Mark = units.Gbps, 30000
		if _, err := c.config.defaulted(); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.config, err)
		}
	}
}

// The kernel's refusal becomes the name of what it lacks; other errors stay.
func TestExplain(t *testing.T) {
	missing := &rtnl.OpError{Op: "add qdisc red", Device: "leaf1", Err: unix.ENOENT}
	err := Explain(missing)
	if !errors.Is(err, emu.ErrNotSupported) || !errors.Is(err, unix.ENOENT) {
		t.Errorf("got %v, want one that matches ErrNotSupported and %v", err, unix.ENOENT)
	}
	for _, word := range []string{"CONFIG_NET_SCH_RED", "leaf1", "virtual"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %s", err, word)
		}
	}
	for _, other := range []error{nil, unix.ENOENT, &rtnl.OpError{Op: "add qdisc red", Err: unix.EEXIST}} {
		if Explain(other) != other {
			t.Errorf("%v became %v, want it as it is", other, Explain(other))
		}
	}
}

// Errors say how to get what is missing, and do not promise it of a kernel that
// lacks it too: the guest's has no eBPF.
func TestErrorsPointToAnEngineThatWorks(t *testing.T) {
	for _, c := range []struct {
		err       error
		says, not string
	}{
		{Explain(&rtnl.OpError{Op: "add qdisc red", Err: unix.ENOENT}),
			"so has that of the virtual engine (sirdbed kernel build", "instead"},
		{Explain(&rtnl.OpError{Op: "add filter bpf", Err: unix.ENOENT}),
			"the virtual engine has sch_red instead (sirdbed kernel build", "so has"},
		{markerError(unix.ENOSYS), "the virtual engine has sch_red instead", "so has"},
		{markerError(os.ErrPermission), "the virtual engine has sch_red instead", "this kernel lacks"},
		{&NotSupportedError{Feature: "namespaces", Option: "more rights", Err: unix.EPERM},
			"the virtual engine does without (sirdbed kernel build", "so has"},
	} {
		if s := c.err.Error(); !strings.Contains(s, c.says) || strings.Contains(s, c.not) ||
			!strings.Contains(s, "--engine virtual") {
			t.Errorf("%s\nwant it to say %q and not %q", s, c.says, c.not)
		}
	}
}
