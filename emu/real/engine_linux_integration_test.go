//go:build linux

package real

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sirdbed/emu"
	"sirdbed/emu/internal/rundir"
	"sirdbed/sirdnode/nstest"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// engine runs host processes that are the test binary.
func engine(t *testing.T) *Engine {
	t.Helper()
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	return &Engine{NodeCommand: []string{"/proc/self/exe"}, Platform: Platform{HostEnv: []string{hostRole}}}
}

// rpcs is an experiment of 0.1 s: h1-1 asks h1-2 a hundred times.
func rpcs() *emu.Experiment {
	x := small()
	x.Duration, x.Drain, x.QueueEvery, x.GaugeEvery = 100*units.Microsecond, 20*units.Millisecond,
		10*units.Microsecond, 10*units.Microsecond
	x.Streams = []traffic.Stream{{Name: "rpc", Pattern: traffic.PatternFixed, From: []string{"h1-1"},
		To: []string{"h1-2"}, Size: 3000, Reply: 100, Interval: units.Microsecond}}
	return x
}

// records reads a log and counts its records by kind.
func records(t *testing.T, path string) map[record.Kind]int {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	n := map[record.Kind]int{}
	for r, err := range record.Read(file) {
		if err != nil {
			t.Fatalf("%s: %v", filepath.Base(path), err)
		}
		n[r.Kind]++
	}
	return n
}

// seen is a capture that counts.
type seen struct {
	t       *testing.T
	last    units.Time
	in, out int64
	closed  bool
	fail    error
}

func (s *seen) Packet(_ *topo.Port, at units.Time, out bool, wire int, frame []byte) error {
	if at < s.last || len(frame) > wire {
		s.t.Errorf("a frame at %v with %d bytes of %d: want none before %v, nor more than there are", at, len(frame),
			wire, s.last)
	}
	s.last = at
	if out {
		s.out++
	} else {
		s.in++
	}
	return s.fail
}

func (s *seen) Close() error { s.closed = true; return nil }

// A run leaves what the contract says: every packet is accounted for in the
// facts, every message in the logs, and a capture has what its port has sent.
func TestRunLeavesWhatTheContractSays(t *testing.T) {
	e, x, dir := engine(t), rpcs(), rundir.Open(t, t.TempDir())
	x.Capture, x.SnapLen = []string{"leaf1>h1-2"}, 64
	capture := &seen{t: t}
	var running [][]RunningHost
	kept := false
	e.Running = func(list []RunningHost) { running = append(running, list) }
	e.KeepUp = func(context.Context) { kept = len(running) == 1 }
	facts, err := e.Run(t.Context(), x, dir, emu.Hooks{
		OpenCapture: func(*os.File, *topo.Node) (emu.Capture, error) { return capture, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if back := readFacts(t, dir); back.Engine != emu.Real || back.Dilation != 1000 || back.Failure != "" ||
		back.Reached < x.Duration || back.Lateness.Count == 0 || len(back.Ports) != 4 {
		t.Errorf("the facts are %+v, want a run at 1000 that reached %v with 4 ports", back, x.Duration)
	}
	var sent, received int64
	for _, h := range facts.Hosts {
		sent, received = sent+h.Sent, received+h.Received
		if !h.Finished || h.Corrupt != 0 {
			t.Errorf("%s: got %+v, want it finished, and nothing corrupt", h.Name, h)
		}
	}
	if sent < 300 || sent != received {
		t.Errorf("%d packets sent, %d received; want all of 300 or more", sent, received)
	}
	one, two := records(t, dir.At(emu.HostLog("h1-1"))), records(t, dir.At(emu.HostLog("h1-2")))
	if one[record.Offered] != 100 || one[record.Delivered] != 100 || one[record.Acked] != 100 ||
		two[record.Delivered] != 100 {
		t.Errorf("logged %v and %v, want 100 requests and replies", one, two)
	}
	if n := records(t, dir.At(emu.QueueLog)); n[record.Tick] < 2 || n[record.End] != 1 {
		t.Errorf("queue records %v, want ticks and an end", n)
	}
	// What the other end sent is captured too: port 3 is leaf1's to h1-2, of 0 to 3.
	f, _ := topo.New(x.Topology)
	down := f.Downlink(1)
	if out, in := facts.Ports[down.ID].Packets, facts.Ports[down.Reverse].Packets; capture.out != out ||
		capture.in != in || !capture.closed {
		t.Errorf("captured %d out, %d in, closed: %v; want %d, %d and closed", capture.out, capture.in, capture.closed,
			out, in)
	}
	if len(running) != 2 || len(running[0]) != 2 || running[0][1].Name != "h1-2" || running[1] != nil || !kept {
		t.Errorf("announced %v, want two hosts that run, then none; kept up while they ran: %v", running, kept)
	}
}

// Whatever fails, the error has the reason, facts are written down, hosts that
// are well finish, and nothing is left open.
func TestFailedRuns(t *testing.T) {
	diskFull := errors.New("disk full")
	const ready = `read config; echo '{"state":"ready"}'; read go; `
	for _, c := range []struct {
		name    string
		command string // of hosts, a shell script; "": real ones
		capture func(t *testing.T) (emu.Capture, error)
		want    string
		finish  bool // hosts that are well
	}{
		{name: "no program", command: "/nowhere", want: "starting the process of h1-1"},
		{name: "hosts die at once", command: `echo no memory >&2; exit 3`, want: "no memory"},
		{name: "hosts refuse", command: `read config; echo '{"state":"failed","error":"no ring"}'`,
			want: "host h1-1 failed: no ring"},
		{name: "hosts die in the run", command: ready + `echo panic >&2; exit 2`, want: "exit status 2"},
		{name: "hosts fail in the run", command: ready + `echo '{"state":"failed","error":"ring gone"}'`,
			want: "failed: ring gone"},
		{name: "capture cannot begin", want: "capturing at leaf1: disk full",
			capture: func(*testing.T) (emu.Capture, error) { return nil, diskFull }},
		{name: "capture fails", want: "disk full", finish: true,
			capture: func(t *testing.T) (emu.Capture, error) { return &seen{t: t, fail: diskFull}, nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, x, dir := engine(t), rpcs(), rundir.Open(t, t.TempDir())
			switch {
			case strings.HasPrefix(c.command, "/"):
				e.NodeCommand = []string{c.command}
			case c.command != "":
				e.NodeCommand = []string{"/bin/sh", "-c", c.command}
			}
			hooks := emu.Hooks{}
			if c.capture != nil {
				x.Capture = []string{"leaf1"}
				hooks.OpenCapture = func(file *os.File, _ *topo.Node) (emu.Capture, error) {
					file.Close() // whatever comes of it: the captures below write none
					return c.capture(t)
				}
			}
			before := openFiles(t)
			facts, err := e.Run(t.Context(), x, dir, hooks)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "controller") {
				t.Errorf("got %v, want an error with %q, and nothing that follows from it", err, c.want)
			}
			if back := readFacts(t, dir); back.Failure == "" || back.Failure != facts.Failure {
				t.Errorf("facts.json has the failure %q, want %q", back.Failure, facts.Failure)
			}
			for _, h := range facts.Hosts {
				if h.Finished != c.finish {
					t.Errorf("%s has finished: %v, want %v", h.Name, h.Finished, c.finish)
				}
			}
			if after := openFiles(t); len(after) > len(before) {
				t.Errorf("%d files are open after it, %d were before:\n%s", len(after), len(before),
					strings.Join(after, "\n"))
			}
		})
	}
}

// A window that ends while all hosts are idle was reached all the same.
func TestIdleRunReachesItsEnd(t *testing.T) {
	e, x, dir := engine(t), rpcs(), rundir.Open(t, t.TempDir())
	x.Streams[0].Interval, x.Streams[0].Phase = units.Second, traffic.PhaseZero
	x.Duration, x.Drain, x.GaugeEvery = 997*units.Microsecond, 0, 100*units.Microsecond
	facts, err := e.Run(t.Context(), x, dir, emu.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	if to := x.Warmup + x.Duration; facts.Reached < to {
		t.Errorf("it reached %v, want %v", facts.Reached, to)
	}
}

// openFiles lists what this process has open.
func openFiles(t *testing.T) (list []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil {
			list = append(list, target)
		}
	}
	return list
}

// A run that is stopped returns the context's error, and its hosts finish with
// logs that can be read to their end.
func TestStoppedRun(t *testing.T) {
	e, x, dir := engine(t), rpcs(), rundir.Open(t, t.TempDir())
	x.Duration = units.Second // a quarter of an hour by the wall clock
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	facts, err := e.Run(ctx, x, dir, emu.Hooks{Progress: func(at units.Time) {
		if at > 0 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || facts.Failure == "" || facts.Reached <= 0 || facts.Reached >= x.Duration {
		t.Errorf("got %v and %+v, want it canceled between its beginning and its end", err, facts)
	}
	for _, name := range []string{"h1-1", "h1-2"} {
		if n := records(t, dir.At(emu.HostLog(name))); n[record.End] != 1 {
			t.Errorf("%s: logged %v, want an end", name, n)
		}
	}
}

// A run of a protocol whose rounds real time does not resolve ends before anything goes.
func TestRoundsBelowRealTimeEndARun(t *testing.T) {
	e := engine(t)
	x := rpcs()
	x.Protocol, x.Dilation = "dcpim", 1
	dir := rundir.Open(t, t.TempDir())
	facts, err := e.Run(t.Context(), x, dir, emu.Hooks{})
	if err == nil || !strings.Contains(err.Error(), "rounds of dcpim take") || facts.Failure != err.Error() {
		t.Errorf("got %v, and the failure %q", err, facts.Failure)
	}
	if _, err := dir.Read(emu.HostLog("h1-1")); err == nil {
		t.Error("a host has run")
	}
}
