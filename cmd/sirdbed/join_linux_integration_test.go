//go:build linux && !portable

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/sirdnode/nstest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Messages from, to and through the host that joins: the third.
const joinScenario = `name: joined
engine: real
topology: {leaves: 1, hosts_per_leaf: 3, host_rate: 100Mbps, host_delay: 1us}
hosts:
  - {name: h1-3, device: cable0, join: true}
sird: {ecn: none}
traffic:
  - {name: out, pattern: fixed, from: [h1-3], to: [h1-1, h1-2], size: 20KB, interval: 10ms}
  - {name: in, pattern: fixed, from: [h1-1], to: [h1-3], size: 20KB, interval: 10ms}
  - {name: ask, pattern: fixed, from: [h1-2], to: [h1-3], size: 1000B, interval: 10ms, reply: 1000B}
duration: 500ms
drain: 500ms
sample: {gauges: 50ms, queues: 50ms}
`

// The address of the machine of the run for its peer, over another link than the cable.
const joinAt = "192.0.2.10:5009"

// A joinable is a cabled whose far end may join its runs.
type joinable struct{ *cabled }

func buildJoinable(t *testing.T) *joinable {
	t.Helper()
	c := buildCabled(t)
	c.write("join.yaml", joinScenario)
	nstest.Veth(t, c.cable.Machine, c.cable.Far, 1500)
	for _, end := range []struct {
		in             *nstest.Net
		iface, address string
	}{{c.cable.Machine, nstest.VethA, "192.0.2.10/24"}, {c.cable.Far, nstest.VethB, "192.0.2.11/24"}} {
		h := end.in.Handle(t)
		l, err := h.LinkByName(end.iface)
		if err == nil {
			var a *netlink.Addr
			if a, err = netlink.ParseAddr(end.address); err == nil {
				err = h.AddrAdd(l, a)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return &joinable{c}
}

// A started is a command that has been started, and what it prints.
type started struct {
	*exec.Cmd
	said  said
	ended chan struct{}
	err   error
}

// begin starts a command of one machine, both of whose commands know a token.
func (j *joinable) begin(in *nstest.Net, args ...string) *started {
	j.t.Helper()
	s := &started{Cmd: j.command(args...), ended: make(chan struct{})}
	s.Cmd.Stdout, s.Cmd.Stderr = &s.said, &s.said
	s.Cmd.Env = append(s.Cmd.Env, joinTokenVar+"=open sesame")
	if err := in.Do(s.Start); err != nil {
		j.t.Fatal(err)
	}
	go func() {
		s.err = s.Cmd.Wait()
		close(s.ended)
	}()
	j.t.Cleanup(func() {
		_ = s.Process.Kill() // it has ended, if all is well
		<-s.ended
	})
	return s
}

func (j *joinable) run(args ...string) *started {
	j.t.Helper()
	return j.begin(j.cable.Machine, append([]string{"run", "join.yaml", "--join-listen", joinAt}, args...)...)
}

// enter starts sirdbed node join at the far end, again as long as nothing waits for it.
func (j *joinable) enter(args ...string) *started {
	j.t.Helper()
	for range 100 {
		s := j.begin(j.cable.Far, append([]string{"node", "join", joinAt, "--interface", nstest.CableFar}, args...)...)
		select {
		case <-s.ended:
			if !strings.Contains(s.said.String(), "no run waits") {
				return s
			}
		case <-time.After(time.Second):
			return s
		}
		time.Sleep(50 * time.Millisecond)
	}
	j.t.Fatal("nothing waits for a peer")
	return nil
}

// exits waits for a command, which has to exit with a code and to print something.
func (s *started) exits(t *testing.T, want string, codes ...int) {
	t.Helper()
	select {
	case <-s.ended:
	case <-time.After(60 * time.Second):
		_ = s.Process.Kill()
		<-s.ended
		t.Errorf("%v does not end", s.Args[1:])
	}
	fine := false
	for _, c := range codes {
		fine = fine || code(s.err) == c
	}
	if !fine || !strings.Contains(s.said.String(), want) {
		t.Errorf("%v exits with %d, want one of %v, and %q in\n%s", s.Args[1:], code(s.err), codes, want, &s.said)
	}
}

func hostFactsOf(v *results.Variant, name string) (h emu.HostFacts) {
	for _, f := range v.Facts.Hosts {
		if f.Name == name {
			h = f
		}
	}
	return h
}

// A host at the other end of a cable sends, answers and is judged like any other, in one
// variant after the other.
func TestPeersTakePart(t *testing.T) {
	j := buildJoinable(t)
	j.write("join.yaml", joinScenario+"protocols: [sird, swift]\n")
	before := j.look()
	run := j.run("--out", "r")
	peer := j.enter()
	run.exits(t, "h1-3 has joined: "+nstest.CableFar+" at 192.0.2.11:", exitFine, exitInvalid)
	peer.exits(t, "the run is over\n", exitFine)
	if d := j.look().Differences(before); len(d) > 0 {
		t.Errorf("the device is not as it was:\n%s", strings.Join(d, "\n"))
	}
	_, variants := j.result("r")
	if len(variants) != 2 {
		t.Fatalf("%d variants, want 2\n%s\n%s", len(variants), &run.said, &peer.said)
	}
	for _, v := range variants {
		if v.Facts == nil {
			t.Fatalf("%s left no facts\n%s\n%s", v.Name, &run.said, &peer.said)
		}
		h := hostFactsOf(v, "h1-3")
		if !h.Finished || h.Sent == 0 || h.Received == 0 || h.Joined == nil || h.Joined.ClockError <= 0 {
			t.Errorf("%s: %+v, joined as %+v", v.Name, h, h.Joined)
		}
		for _, name := range []string{"hosts", "host log", "link drops"} { // made where something is wrong
			if c := check(v, name); c != nil && c.Level != results.Pass {
				t.Errorf("%s: %s: %s", v.Name, name, c.Found)
			}
		}
		if c := check(v, "conservation"); c == nil || c.Level != results.Pass {
			t.Errorf("%s: conservation: %+v", v.Name, c)
		}
		if c := check(v, "peer clocks"); c == nil || !strings.Contains(c.Found, "h1-3 is within ") {
			t.Errorf("%s: peer clocks: %+v", v.Name, c)
		}
		from, to := 0, 0
		for i := range v.Messages {
			m := &v.Messages[i]
			if m.Delivered == units.Never || m.Acked == units.Never {
				t.Errorf("%s: message %d of %s is not through", v.Name, m.ID, v.Fabric.HostName(m.Src))
			}
			if m.Src == 2 {
				from++
			}
			if m.Dst == 2 {
				to++
			}
		}
		// 50 and their replies go each way; those of h1-3 go to one of two hosts.
		if from != 100 || to != 100 {
			t.Errorf("%s: %d messages from the peer and %d to it, want 100 and 100", v.Name, from, to)
		}
	}
}

// What cannot join learns why, and so does a run that nobody can join.
func TestPeersThatCannotJoin(t *testing.T) {
	j := buildJoinable(t)
	for _, c := range []struct{ args, want string }{
		{"run join.yaml --out r", "host h1-3 joins by sirdbed node join: say where that finds the run"},
		{"run device.yaml --out r --join-listen 192.0.2.10", "--join-listen: no host of the scenario has join: true"},
		{"run join.yaml --engine model --out r --join-listen 192.0.2.10", "the engine model takes no devices"},
		{"run join.yaml --out r --join-listen here", `"here": want an IP address`},
		{"run join.yaml --out r --join-listen 192.0.2.10 --join-within 0s", "--join-within: want more than 0s"},
		{"run join.yaml --out r --join-listen 192.0.2.10 --set protocol=tcp", "kernel TCP is that of its machine"},
		{"node join 192.0.2.10 --token x", "--interface: missing"},
		{"node join 192.0.2.10 --interface cable0", "there is no token"},
		{"node join there --interface cable0 --token x", `"there": want an IP address`},
	} {
		out, err := j.output(strings.Fields(c.args)...)
		if code(err) != exitBadInput || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit code %d, want %d, and %q in\n%s", c.args, code(err), exitBadInput, c.want, out)
		}
	}
	out, err := j.output("run", "join.yaml", "--out", "r", "--join-listen", "192.0.2.99")
	if code(err) != exitFailed || !strings.Contains(out, "192.0.2.99:47097 is no address of this machine") {
		t.Errorf("exit code %d\n%s", code(err), out)
	}
	j.enterInVain(t)
	run := j.run("--out", "r", "--join-within", "5s")
	j.enter("--token", "open barley").exits(t, "refuses: it has another token than the run", exitFailed)
	j.enter("--host", "h1-1").exits(t, `"h1-1" is no host that joins: those are h1-3`, exitFailed)
	j.farMTU(1400)
	j.enter().exits(t, "ip link set "+nstest.CableFar+" mtu 1500", exitFailed)
	run.exits(t, "nobody has joined as h1-3 within 5s", exitFailed)
	run.exits(t, "may not join: it has another token than the run", exitFailed)
}

// enterInVain has the far end join where it cannot be.
func (j *joinable) enterInVain(t *testing.T) {
	t.Helper()
	s := j.begin(j.cable.Far, "node", "join", joinAt, "--interface", "nowhere0")
	s.exits(t, "interface nowhere0: no such network interface", exitFailed)
	forwarding := func(value string) {
		err := j.cable.Far.Do(func() error {
			return os.WriteFile("/proc/sys/net/ipv4/conf/"+nstest.CableFar+"/forwarding",
				[]byte(value), 0)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	forwarding("1")
	s = j.begin(j.cable.Far, "node", "join", joinAt, "--interface", nstest.CableFar)
	s.exits(t, "sysctl net.ipv4.conf."+nstest.CableFar+".forwarding=0", exitFailed)
	forwarding("0")
}

func (j *joinable) farMTU(mtu int) {
	j.t.Helper()
	h := j.cable.Far.Handle(j.t)
	l, err := h.LinkByName(nstest.CableFar)
	if err == nil {
		err = h.LinkSetMTU(l, mtu)
	}
	if err != nil {
		j.t.Fatal(err)
	}
}

// Whichever end goes, the other knows and says so, what was measured is kept, and the device
// is what it was.
func TestPeersAndRunsThatEndEarly(t *testing.T) {
	j := buildJoinable(t)
	before := j.look()
	for _, c := range []struct {
		name      string
		end       func(run, peer *started)
		run, peer string // what each says at last
		runCode   int
		peerCode  int
	}{
		{"peer killed", func(_, peer *started) { _ = peer.Process.Kill() },
			"died: its process has ended", "it runs\n", exitFailed, -1},
		{"peer interrupted", func(_, peer *started) { _ = peer.Process.Signal(os.Interrupt) },
			"died: the peer was interrupted", "it has ended\n", exitFailed, exitStopped},
		{"run interrupted", func(run, _ *started) { _ = run.Process.Signal(os.Interrupt) },
			"interrupted", "the run is over\n", exitStopped, exitFine},
		{"run killed", func(run, _ *started) { _ = run.Process.Kill() },
			"it runs", "is gone: its process has ended", -1, exitFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "run killed" {
				c.run = ""
			}
			out := strings.ReplaceAll(c.name, " ", "-")
			run := j.run("--out", out, "--set", "duration=20s")
			peer := j.enter()
			if !within(t.Context(), 20*time.Second, func() bool { return j.logged(out) > 64<<5 }) {
				t.Fatalf("nothing comes of the peer's log\n%s\n%s", &run.said, &peer.said)
			}
			c.end(run, peer)
			run.exits(t, c.run, c.runCode)
			peer.exits(t, c.peer, c.peerCode)
			j.gone()
			if d := j.look().Differences(before); len(d) > 0 {
				t.Errorf("the device is not as it was:\n%s", strings.Join(d, "\n"))
			}
			if c.name == "run killed" {
				return
			}
			v := j.variant(out)
			through := 0
			for i := range v.Messages {
				if m := &v.Messages[i]; m.Src == topo.HostID(2) && m.Acked != units.Never {
					through++
				}
			}
			if interrupted := c.runCode == exitStopped; through < 5 || hostFactsOf(v, "h1-3").Finished != interrupted {
				t.Errorf("%d messages of the peer's are known, finished: %v", through, !interrupted)
			}
		})
	}
}

// logged is how many bytes there are of the peer's log, which come while it runs.
func (j *joinable) logged(out string) int64 {
	info, err := os.Stat(filepath.Join(j.dir, out, results.VariantsDir, "sird", emu.HostLog("h1-3")))
	if errors.Is(err, syscall.ENOENT) {
		return 0
	}
	if err != nil {
		j.t.Fatal(err)
	}
	return info.Size()
}

// Peers are not told to join at an address that is only to listen at.
func TestWhatPeersType(t *testing.T) {
	for listen, want := range map[string]string{
		"192.0.2.1:47097": "192.0.2.1:47097", "[2001:db8::1]:5000": "[2001:db8::1]:5000",
		"0.0.0.0:47097": "$HOST:47097", "[::]:5000": "$HOST:5000",
	} {
		if got := typed(listen); got != want {
			t.Errorf("%s: got %s, want %s", listen, got, want)
		}
	}
}
