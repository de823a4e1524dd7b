//go:build linux

package real

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/internal/rundir"
	"sirdbed/topo/units"
)

// talk is the test binary as a program: it receives on a port, or sends to a node.
func talk(role string) error {
	const port = "4711"
	if to, ok := strings.CutPrefix(role, "send "); ok {
		conn, err := net.DialTimeout("tcp4", net.JoinHostPort(to, port), 10*time.Second)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.Write(make([]byte, 100_000)); err != nil {
			return err
		}
		err = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.ReadAll(conn) // until all has been received
		return err
	}
	listener, err := net.Listen("tcp4", ":"+port)
	if err != nil {
		return err
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		n, err := io.Copy(io.Discard, conn)
		os.Stdout.WriteString(strings.Repeat("received 100000 bytes\n", int(n/100_000)))
		conn.Close()
		if err != nil {
			return err
		}
	}
}

// talker is an app that is the test binary.
func talker(name, host, role string) emu.App {
	return emu.App{Name: name, Host: host, Run: []string{"/usr/bin/env", "SIRDBED_TEST_ROLE=" + role, testBinary()}}
}

func testBinary() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

func sh(name, host, script string) emu.App {
	return emu.App{Name: name, Host: host, Run: []string{"/bin/sh", "-c", script}}
}

// runApps runs an experiment of programs, and returns their facts by name.
func runApps(t *testing.T, x *emu.Experiment) (*emu.Facts, map[string]emu.AppFacts, emu.RunDir) {
	t.Helper()
	e, dir := engine(t), rundir.Open(t, t.TempDir())
	facts, err := e.Run(t.Context(), x, dir, emu.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]emu.AppFacts{}
	for _, a := range readFacts(t, dir).Apps {
		all[a.Name] = a
	}
	return facts, all, dir
}

// alone is an experiment of programs without traffic, of at most a minute.
func alone(apps ...emu.App) *emu.Experiment {
	x := small()
	x.Dilation, x.Duration, x.Apps = 1, units.Time(time.Minute), apps
	return x
}

// A client starts when its server listens, and talks to it by its name, beside traffic.
// Its packets are counted by the kernels, and all arrive.
func TestServerAndClientBesideTraffic(t *testing.T) {
	x := rpcs()
	server, client := talker("server", "h1-2", "receive"), talker("client", "h1-1", "send h1-2")
	server.Ready, client.After = "port 4711", []string{"server"}
	x.Apps = []emu.App{client, server}
	x.Duration = 3 * units.Millisecond
	facts, apps, dir := runApps(t, x)
	s, c := apps["server"], apps["client"]
	if !s.Met || s.Exit != nil || s.Ready == nil || !c.Met || c.Exit == nil || *c.Exit != 0 || *c.Started < *s.Ready {
		t.Errorf("server %+v, client %+v: want both as expected, the client after the server", s, c)
	}
	if text, err := dir.Read(s.Output); err != nil || string(text) != "received 100000 bytes\n" {
		t.Errorf("the server printed %q (%v), want what it received", text, err)
	}
	var sent, received int64
	for _, h := range facts.Hosts {
		sent, received = sent+h.Sent, received+h.Received
	}
	k := facts.KernelPackets
	if sent == 0 || sent != received || k == nil || k.Sent < 12 || k.Sent != k.Received {
		t.Errorf("transport: %d sent, %d received; kernels: %+v; want all to arrive, and some of both", sent,
			received, k)
	}
	up := facts.Ports[0].Packets + facts.Ports[2].Packets // of hosts
	if up != sent+k.Sent {
		t.Errorf("hosts' ports sent %d packets, want the sum of both, %d", up, sent+k.Sent)
	}
}

// A run of programs alone ends with those that it waits for, long before its time.
func TestRunOfProgramsEndsWithThem(t *testing.T) {
	server := sh("server", "h1-2", "sleep 1000")
	yes := true
	server.Daemon = &yes
	begun := time.Now()
	_, apps, _ := runApps(t, alone(server, sh("short", "h1-1", "exit 0")))
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	if !apps["server"].Met || !apps["short"].Met || apps["server"].Exit != nil {
		t.Errorf("got %+v, want both as expected, and the server ended by the run", apps)
	}
}

// However a program is ready or ends, its facts say so.
func TestHowProgramsEnd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "there")
	with := func(a emu.App, change func(*emu.App)) emu.App {
		change(&a)
		return a
	}
	for _, c := range []struct {
		name  string
		apps  []emu.App
		met   string // those that ended as expected, in the order of apps
		wrong string // part of the problem of the last
		again int    // restarts of the last
	}{
		{"exit code", []emu.App{sh("a", "h1-1", "exit 3")}, "-", "it ended with exit 3, not exit 0", 0},
		{"expected exit code", []emu.App{with(sh("a", "h1-1", "exit 3"), func(a *emu.App) { a.Expect = "exit 3" })},
			"+", "", 0},
		{"any exit", []emu.App{with(sh("a", "h1-1", "exit 3"), func(a *emu.App) { a.Expect = "any" })}, "+", "", 0},
		{"a signal", []emu.App{sh("a", "h1-1", "kill -9 $$")}, "-", "a signal: killed", 0},
		{"not there", []emu.App{{Name: "a", Host: "h1-1", Run: []string{"no-such-program"}}}, "-", "exit 127", 0},
		{"too long", []emu.App{with(sh("a", "h1-1", "sleep 1000"), func(a *emu.App) {
			a.Timeout = 300 * units.Millisecond
		})},
			"-", "it did not end within 300ms", 0},
		{"again and again", []emu.App{with(sh("a", "h1-1", "exit 1"), func(a *emu.App) {
			a.Restart, a.Restarts = emu.RestartOnFailure, 2
		})}, "-", "exit 1", 2},
		{"until it succeeds", []emu.App{with(sh("a", "h1-1", "test -e "+file+" || { touch "+file+"; exit 1; }"),
			func(a *emu.App) { a.Restart = emu.RestartOnFailure })}, "+", "", 1},
		{"ready by its output", []emu.App{
			with(sh("a", "h1-1", "echo now; echo up; sleep 1000"), func(a *emu.App) { a.Ready = "output ^up$" }),
			with(sh("b", "h1-2", "exit 0"), func(a *emu.App) { a.After = []string{"a"} }),
		}, "++", "", 0},
		{"ready by its end", []emu.App{
			with(sh("a", "h1-1", "exit 0"), func(a *emu.App) { a.Ready = "exit" }),
			with(sh("b", "h1-2", "exit 0"), func(a *emu.App) { a.After = []string{"a"} }),
		}, "++", "", 0},
		{"never ready", []emu.App{
			with(sh("a", "h1-1", "sleep 1000"), func(a *emu.App) {
				a.Ready, a.ReadyWithin = "port 99", 200*units.Millisecond
			}),
			with(sh("b", "h1-2", "exit 0"), func(a *emu.App) { a.After = []string{"a"} }),
		}, "--", "it was not started, since a was not ready", 0},
		{"ends unready", []emu.App{
			with(sh("a", "h1-1", "exit 0"), func(a *emu.App) { a.Ready = "output up" }),
			with(sh("b", "h1-2", "exit 0"), func(a *emu.App) { a.After = []string{"a"} }),
		}, "--", "since a was not ready", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, apps, _ := runApps(t, alone(c.apps...))
			met := ""
			for _, a := range c.apps {
				met += map[bool]string{true: "+", false: "-"}[apps[a.Name].Met]
			}
			last := apps[c.apps[len(c.apps)-1].Name]
			if met != c.met || !strings.Contains(last.Problem, c.wrong) || (c.wrong == "") != (last.Problem == "") ||
				last.Restarts != c.again {
				t.Errorf("got %s, %+v; want %s, %q and %d restarts", met, last, c.met, c.wrong, c.again)
			}
		})
	}
}

// Of much output the beginning is kept, and all of it counted. What a program leaves in
// the background ends with the run.
func TestOutputAndWhatIsLeftBehind(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	_, apps, dir := runApps(t, alone(
		sh("much", "h1-1", "head -c 3000000 /dev/zero"),
		sh("leaves", "h1-2", "setsid sleep 1000 >/dev/null 2>&1 & echo $! > "+pidFile),
	))
	if a := apps["much"]; a.Bytes != 3_000_000 || !a.Cut {
		t.Errorf("got %+v, want 3 MB counted, and not all of it kept", a)
	}
	if info, err := os.Stat(dir.At(apps["much"].Output)); err != nil || info.Size() != maxAppOutput {
		t.Errorf("kept %v (%v), want %d bytes", info, err, maxAppOutput)
	}
	pid, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %s has outlived the run", pid)
}

// An interrupt ends programs too.
func TestInterruptEndsPrograms(t *testing.T) {
	e, dir := engine(t), rundir.Open(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	x := alone(sh("a", "h1-1", "sleep 1000"))
	facts, err := e.Run(ctx, x, dir, emu.Hooks{Progress: func(units.Time) { cancel() }})
	if err == nil || len(facts.Apps) != 1 || facts.Apps[0].Met {
		t.Errorf("got %v and %+v, want an interrupted run whose program did not end", err, facts.Apps)
	}
}
