//go:build linux

package virtual

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/internal/rundir"
	"sirdbed/emu/real"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Memory grows with hosts, frames, captures, messages and samples; idle time is free.
func TestMemory(t *testing.T) {
	of := func(change func(x *emu.Experiment)) int64 {
		t.Helper()
		x := pair()
		x.Topology.HostsPerLeaf, x.Topology.MTU = 4, 1500
		change(x)
		f, err := topo.New(x.Topology)
		if err != nil {
			t.Fatal(err)
		}
		size, err := memory(f, x)
		if err != nil {
			t.Fatal(err)
		}
		return size
	}
	base := of(func(*emu.Experiment) {})
	fixed := func(reply units.Bytes) func(*emu.Experiment) {
		return func(x *emu.Experiment) { // 1000 messages
			x.Streams = []traffic.Stream{{Name: "s", Pattern: traffic.PatternFixed, From: []string{"h1-1"},
				To: []string{"h1-2"}, Size: 1000, Rate: 8 * units.Gbps, Reply: reply}}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*emu.Experiment)
		more   int64
	}{
		{"96 hosts more", func(x *emu.Experiment) { x.Topology.HostsPerLeaf = 100 }, 96 * (hostMemory + rxFrames*2048)},
		{"jumbo frames", func(x *emu.Experiment) { x.Topology.MTU = 9000 }, 4 * rxFrames * (16384 - 2048)},
		// A leaf of 4 ports, and one port of it named too.
		{"captures", func(x *emu.Experiment) { x.Capture = []string{"leaf1", "leaf1>h1-2", "nobody"} },
			4 * real.TapMemory},
		{"an idle hour", func(x *emu.Experiment) { x.Duration = 3600 * units.Second }, 0},
		{"messages", fixed(0), 1000 * messageMemory},
		{"messages with replies", fixed(100), 2000 * messageMemory},
		{"a stream that stops", func(x *emu.Experiment) {
			fixed(0)(x)
			x.Duration, x.Streams[0].Stop = units.Second, units.Millisecond
		}, 1000 * messageMemory},
		{"a list", func(x *emu.Experiment) {
			m := traffic.ListEntry{Src: "h1-1", Dst: "h1-2", Size: 8}
			x.Streams = []traffic.Stream{{Name: "s", Pattern: traffic.PatternList,
				Messages: []traffic.ListEntry{m, m, m}}}
		}, 6 * messageMemory},
		{"samples", func(x *emu.Experiment) { x.QueueEvery = units.Microsecond }, 1000 * sampleMemory},
		{"kernel TCP", func(x *emu.Experiment) { x.Protocol = "tcp-cubic" }, 4 * (tcpMemory - rxFrames*2048)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if more := of(c.change) - base; more != c.more {
				t.Errorf("it takes %d bytes more, want %d", more, c.more)
			}
		})
	}
}

// A run that will not fit is refused before anything is made, with how much it would
// take and what to do.
func TestRunsThatDoNotFitAreRefused(t *testing.T) {
	x := busy()
	x.Duration = 3600 * units.Second
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	err := (&Engine{Kernel: "/nowhere"}).Check(x)
	if !errors.Is(err, emu.ErrNotSupported) {
		t.Fatalf("got %v, want that this machine is too small", err)
	}
	for _, want := range []string{"a guest takes up to ", " MB of memory for 4 hosts and 3.11e+10 messages in 3600s",
		"run fewer hosts", "set TMPDIR to one with ", dir + ": ", " MB free, "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v, want nothing", left)
	}
	several := *x
	several.Topology, several.Guests = fourRacks(), 4
	err = (&Engine{Kernel: "/nowhere"}).Check(&several)
	if err == nil || !strings.Contains(err.Error(), "4 guests take up to ") {
		t.Errorf("by 4 guests: got %v, want that they do not fit", err)
	}
	x.Streams = nil
	if err := (&Engine{Kernel: "/nowhere"}).Check(x); err != nil {
		t.Errorf("an idle hour: got %v, want that it fits", err)
	}
}

// What a guest touches is at most what it was given, and at least a fifth of it.
func TestMemoryIsEnough(t *testing.T) {
	for _, hosts := range []int{4, 24} {
		t.Run(fmt.Sprint(hosts, " hosts"), func(t *testing.T) {
			private(t)
			x, pid, peak := busy(), 0, int64(0)
			x.Topology.HostsPerLeaf, x.Duration = hosts, 12*units.Millisecond/units.Time(hosts)
			f, err := topo.New(x.Topology)
			if err != nil {
				t.Fatal(err)
			}
			size, err := memory(f, x)
			if err != nil {
				t.Fatal(err)
			}
			e := engine(t, func(p int) { pid = p })
			_, err = e.Run(context.Background(), x, rundir.Open(t, t.TempDir()), emu.Hooks{
				Progress: func(units.Time) { peak = max(peak, touched(pid)) }})
			if err != nil {
				t.Fatal(err)
			}
			if peak > size || peak < size/5 {
				t.Errorf("%d MB of %d were touched, want a fifth of them to all", peak>>20, size>>20)
			}
			t.Logf("%d MB of %d were touched", peak>>20, size>>20)
		})
	}
}

// touched is how much of its memory, a file without a name, a kernel has touched.
func touched(pid int) (sum int64) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, path := range files {
		var s unix.Stat_t
		if unix.Stat(path, &s) == nil && s.Mode&unix.S_IFMT == unix.S_IFREG && s.Nlink == 0 {
			sum = max(sum, s.Blocks*512)
		}
	}
	return sum
}
