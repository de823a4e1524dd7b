//go:build linux

package virtual

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/internal/rundir"
	"sirdbed/topo/units"
)

// The test binary as a program in a guest.
const programArgument = "test-program"

// program is what it does there.
func program(args []string) error {
	switch args[0] {
	case "spin":
		for n := 1; n != 0; n |= 1 {
		}
	case "poll": // with system calls that take no time
		for {
			syscall.Getppid()
		}
	case "collect": // garbage, in several threads
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				kept := make([][]byte, 100)
				for i := range 2000 {
					kept[i%len(kept)] = make([]byte, 10_000)
					if i%100 == 0 {
						time.Sleep(time.Millisecond)
					}
				}
			})
		}
		all.Wait()
		var m runtime.MemStats
		if runtime.ReadMemStats(&m); m.NumGC == 0 {
			return errors.New("no garbage was collected")
		}
	case "echo": // datagrams, for ever
		conn, err := net.ListenPacket("udp4", ":4711")
		if err != nil {
			return err
		}
		fmt.Println("up")
		for {
			b := make([]byte, 100)
			n, from, err := conn.ReadFrom(b)
			if err == nil {
				_, err = conn.WriteTo(b[:n], from)
			}
			if err != nil {
				return err
			}
		}
	case "ask": // one datagram of 100 bytes
		conn, err := net.Dial("udp4", args[1]+":4711")
		if err != nil {
			return err
		}
		asked := time.Now()
		if _, err := conn.Write(make([]byte, 100)); err != nil {
			return err
		}
		if _, err := conn.Read(make([]byte, 100)); err != nil {
			return err
		}
		fmt.Println(time.Since(asked).Nanoseconds())
	}
	return nil
}

// A standing is a guest's fabric of a test.
type standing struct {
	*Standing
	t *testing.T
}

// up brings two hosts with links of 1 ms up in a guest until the test is over.
func up(t *testing.T, spins time.Duration) *standing {
	t.Helper()
	e := &Engine{Kernel: requireKernel(t), Command: []string{"/proc/self/exe", controllerArgument},
		NodeCommand: []string{"/proc/self/exe", nodeArgument}, SpinLimit: spins}
	x := pair()
	x.Topology.HostDelay = units.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	ready, over := make(chan *Standing, 1), make(chan error, 1)
	go func() { over <- e.Up(ctx, x, func(s *Standing) error { ready <- s; return nil }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-over; err != nil {
			t.Errorf("the fabric ended with %v", err)
		}
	})
	select {
	case s := <-ready:
		return &standing{s, t}
	case err := <-over:
		over <- nil
		t.Fatal(err)
	}
	return nil
}

// start starts a program. output has what it has printed once the channel has its exit
// code.
func (s *standing) start(node string, input string, argv ...string) (number int, output *bytes.Buffer, exit chan int) {
	s.t.Helper()
	output, exit = &bytes.Buffer{}, make(chan int, 1)
	number, err := s.Run(Order{Node: node, Argv: argv, Dir: "/"}, []byte(input), func(e Event) {
		output.Write(e.Text)
		if e.Stream == 0 {
			exit <- e.Exit
		}
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return number, output, exit
}

// run runs a program to its end.
func (s *standing) run(node, input string, argv ...string) (output string, code int) {
	s.t.Helper()
	_, out, exit := s.start(node, input, argv...)
	select {
	case code = <-exit:
	case <-time.After(60 * time.Second):
		s.t.Fatalf("%v does not end", argv)
	}
	return out.String(), code
}

// self is the test binary with arguments.
func self(t *testing.T, args ...string) []string {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{path, programArgument}, args...)
}

// Programs have input, output, exit codes and signals. While none runs no time passes.
func TestProgramsInAGuest(t *testing.T) {
	s := up(t, 0)
	if s.Dilation != 9 { // a packet of 1500 B lasts 1.1 us then
		t.Errorf("the dilation is %d, want that of kernel TCP", s.Dilation)
	}
	out, code := s.run("h1-1", "given\n", "/bin/sh", "-c", "cat; sleep 1; echo $SIRDBED_HOST >&2; exit 3")
	if code != 3 || out != "given\nh1-1\n" {
		t.Errorf("got %q and exit code %d, want the input, the name of the host, and 3", out, code)
	}
	now := func() float64 {
		out, code := s.run("h1-2", "", "/bin/cat", "/proc/uptime")
		var up float64
		if n, err := fmt.Sscan(out, &up); n != 1 || err != nil || code != 0 {
			t.Fatalf("uptime %q, exit code %d: %v", out, code, err)
		}
		return up
	}
	first := now()
	time.Sleep(1500 * time.Millisecond)
	if second := now(); second-first > 0.5 {
		t.Errorf("%.3f s have passed in the guest while nothing ran there", second-first)
	}
	if out, code := s.run("h1-1", "", "/bin/sleep", "3"); code != 0 {
		t.Errorf("sleep: exit code %d: %s", code, out)
	}
	if third := now(); third-first < 2.98 || third-first > 3.5 {
		t.Errorf("3 s of sleep took %.3f s by the guest's clock", third-first)
	}
	number, _, exit := s.start("h1-1", "", "/bin/sleep", "1000000000")
	if err := s.Signal(number, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := <-exit; code != 128+15 {
		t.Errorf("a program that was ended has exit code %d, want 143", code)
	}
	if out, code := s.run("h1-1", "", "no-such-program"); code != 127 {
		t.Errorf("a program that is not there: %q, exit code %d", out, code)
	}
}

// A round trip over idle links of 1 ms takes what links take, to the nanosecond: four
// delays, and the serialization of both packets.
func TestRoundTripOfAProgram(t *testing.T) {
	s := up(t, 0)
	number, _, _ := s.start("h1-2", "", self(t, "echo")...)
	out, code := s.run("h1-1", "", self(t, "ask", "h1-2")...)
	var got int64
	if n, err := fmt.Sscan(out, &got); n != 1 || err != nil || code != 0 {
		t.Fatalf("got %q, exit code %d", out, code)
	}
	d := int64(s.Dilation)
	delays := 4 * d * int64(time.Millisecond)
	// 166 bytes on the wire, at 100 Gbps: 13.28 ns by nominal time a link, and rounding.
	const wire, rounding, clock = 166 * 8 * 4 / 100, 4 * 4, 300
	if least := delays + wire*d - rounding; got < least || got > least+2*rounding+clock {
		t.Errorf("the round trip took %d ns by the program's clock, want %d to %d", got, least, least+2*rounding+clock)
	}
	if err := s.Signal(number, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// Go programs with their garbage collector run, whatever processors they think they have.
func TestCollectorInAGuest(t *testing.T) {
	s := up(t, 0)
	for _, procs := range []string{"GOMAXPROCS=", "GOMAXPROCS=4"} {
		out, code := s.run("h1-1", "", append([]string{"/usr/bin/env", "TEST=", procs}, self(t, "collect")...)...)
		if code != 0 {
			t.Errorf("%q: exit code %d: %s", procs, code, out)
		}
	}
}

// A program that spins stops the clock. It is found by the machine's, named and ended;
// others go on.
func TestProgramThatSpins(t *testing.T) {
	s := up(t, 2*time.Second)
	for _, how := range []string{"spin", "poll"} {
		_, sleeper, woken := s.start("h1-2", "", "/bin/sh", "-c", "sleep 1; echo woken")
		out, code := s.run("h1-1", "", self(t, how)...)
		if code != 128+int(syscall.SIGSEGV) || !strings.Contains(out, "virtual.test spun: it computed") {
			t.Errorf("%s: got %q and exit code %d, want its name, and 139", how, out, code)
		}
		if code := <-woken; code != 0 || sleeper.String() != "woken\n" {
			t.Errorf("%s: the other program printed %q, exit code %d", how, sleeper, code)
		}
	}
}

// Programs of a scenario repeat to the bit, and one that spins is named in the facts.
func TestProgramsOfAnExperiment(t *testing.T) {
	e := &Engine{Kernel: requireKernel(t), Command: []string{"/proc/self/exe", controllerArgument},
		NodeCommand: []string{"/proc/self/exe", nodeArgument}, SpinLimit: 2 * time.Second}
	x := pair()
	x.Topology.HostDelay, x.Duration = units.Millisecond, 500*units.Millisecond
	x.Apps = []emu.App{
		{Name: "echo", Host: "h1-2", Run: self(t, "echo"), Ready: "output up"},
		{Name: "ask", Host: "h1-1", Run: self(t, "ask", "h1-2"), After: []string{"echo"}, Ready: "exit"},
		{Name: "spin", Host: "h1-1", Run: self(t, "spin"), After: []string{"ask"}},
	}
	var before []byte
	for range 2 {
		dir := rundir.Open(t, t.TempDir())
		facts, err := e.Run(t.Context(), x, dir, emu.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		if a := facts.Apps; len(a) != 3 || !a[0].Met || !a[1].Met || a[2].Met ||
			!strings.Contains(a[2].Problem, "it spun") {
			t.Fatalf("got %+v, want all as expected but the one that spins", a)
		}
		asked, err := dir.Read(facts.Apps[1].Output)
		text, _ := json.Marshal(facts.Apps[:2])
		text = append(text, asked...)
		if err != nil || len(asked) == 0 || before != nil && !bytes.Equal(text, before) {
			t.Errorf("got %s (%v), before %s", text, err, before)
		}
		before = text
	}
}
