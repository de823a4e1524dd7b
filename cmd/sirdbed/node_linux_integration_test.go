//go:build linux && !portable

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"

	"sirdbed/emu/sudo"
	"sirdbed/sirdnode/endpoint"
	"sirdbed/sirdnode/nstest"
)

// Two ends of a veth pair, each a namespace that stands for a machine.
type twoMachines struct {
	*program
	near, far *nstest.Net
}

func buildTwoMachines(t *testing.T) *twoMachines {
	if os.Geteuid() != 0 {
		t.Skip("the two machines are namespaces that this user may not make here: it takes root")
	}
	m := &twoMachines{program: build(t), near: nstest.Namespace(t), far: nstest.Namespace(t)}
	nstest.Veth(t, m.near, m.far, 1500)
	for _, end := range []struct {
		in             *nstest.Net
		iface, address string
	}{{m.near, nstest.VethA, "10.7.1.1/24"}, {m.far, nstest.VethB, "10.7.1.2/24"}} {
		h := end.in.Handle(t)
		link, err := h.LinkByName(end.iface)
		if err == nil {
			var a *netlink.Addr
			if a, err = netlink.ParseAddr(end.address); err == nil {
				err = h.AddrAdd(link, a)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// run runs a command in a namespace, and returns what it prints and its exit code.
func (m *twoMachines) run(in *nstest.Net, args ...string) (stdout, stderr string, exit int) {
	m.t.Helper()
	cmd := m.command(args...)
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	err := in.Do(cmd.Start)
	if err == nil {
		err = cmd.Wait()
	}
	if bad, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String(), said.String(), bad.ExitCode()
	} else if err != nil {
		m.t.Fatal(err)
	}
	return out.String(), said.String(), 0
}

// serve starts sirdbed node serve at the far machine, and waits until it does.
func (m *twoMachines) serve(args ...string) (cmd *exec.Cmd, out *bufio.Reader) {
	m.t.Helper()
	// The kernel may take a second to find that a new veth pair runs.
	for range 100 {
		cmd = m.command(append([]string{"node", "serve"}, args...)...)
		pipe, err := cmd.StdoutPipe()
		if err == nil {
			err = m.far.Do(cmd.Start)
		}
		if err != nil {
			m.t.Fatal(err)
		}
		out = bufio.NewReader(pipe)
		if line, err := out.ReadString('\n'); err == nil {
			if !strings.HasPrefix(line, "sird on "+nstest.VethB+", 10.7.1.2, ") {
				m.t.Fatalf("it begins with %q", line)
			}
			m.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
			return cmd, out
		}
		cmd.Wait()
	}
	m.t.Fatal("nothing serves")
	return nil, nil
}

func TestNodesOfTwoMachines(t *testing.T) {
	m := buildTwoMachines(t)
	cmd, served := m.serve("--rate", "200Mbps")
	out, said, exit := m.run(m.near, "node", "ping", "10.7.1.2", "--rate", "200Mbps", "--count", "1200")
	for _, want := range []string{
		"sird on a0, 10.7.1.1, 200Mbps\n", "   1s  ",
		"1200 messages sent, 1200 through, 0 failed; 1200 arrived there\n",
		"round trip p50 ", " p99.9 ", "serve with --set sird.bdp=",
	} {
		if exit != 0 || !strings.Contains(out, want) {
			t.Errorf("exit code %d, want %q in\n%s%s", exit, want, out, said)
		}
	}
	out, said, exit = m.run(m.near, "node", "blast", "10.7.1.2", "--rate", "200Mbps", "--for", "1500ms",
		"--size", "100KB", "--json")
	var r endpoint.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || exit != 0 {
		t.Fatalf("exit code %d, %v\n%s%s", exit, err, out, said)
	}
	there := r.Peers[0].Counts.Messages
	if r.Goodput == 0 || r.Totals.Failed != 0 || there == 0 || !strings.Contains(said, "under way") {
		t.Errorf("%+v\nand beside that\n%s", r, said)
	}
	out, said, exit = m.run(m.near, "node", "send", "10.7.1.2", "--count", "20", "--offer", "50Mbps",
		"--rate", "200Mbps")
	if exit != 0 || !strings.Contains(out, "20 messages sent, 20 through, 0 failed; 20 arrived there") {
		t.Errorf("exit code %d\n%s%s", exit, out, said)
	}
	_, said, exit = m.run(m.near, "node", "ping", "10.7.1.2", "--protocol", "homa")
	if exit != 1 || said != "sirdbed: 10.7.1.2 refuses: it serves sird, not homa\n" {
		t.Errorf("exit code %d, %s", exit, said)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(served)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"10.7.1.1 has come\n", " messages from 1 peer\n", "10.7.1.1 has gone after ", ": 1200 messages, 9.60 KB\n",
		"from 3 visits; payload damaged in 0 packets, 0 packets dropped\n",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("want %q in\n%s", want, page)
		}
	}
}

func TestNodeRefusesWhatCannotBe(t *testing.T) {
	for line, want := range map[string]string{
		"ping 10.7":                            "no IPv4 address",
		"ping fe80::1":                         "no IPv4 address",
		"ping 10.7.1.2 10.7.1.2":               "given twice",
		"ping":                                 "usage: sirdbed node ping PEER...",
		"ping 10.7.1.2 --protocol tcp":         "the kernel's own",
		"ping 10.7.1.2 --protocol dcpim":       "clocks agree",
		"ping 10.7.1.2 --protocol hom":         `did you mean "homa"?`,
		"ping 10.7.1.2 --rate 1":               "has no unit",
		"ping 10.7.1.2 --set homa.workload=w":  "want a parameter of sird",
		"ping 10.7.1.2 --mtu 100":              "want 256B to 9.216KB",
		"send 10.7.1.2 --size 0":               "want 1B to",
		"send 10.7.1.2 --outstanding 0":        "want 1 to 10000",
		"blast 10.7.1.2 --for -1s":             "not negative",
		"serve 10.7.1.2":                       "usage: sirdbed node serve",
		"send 10.7.1.2 --offer 1Mbps --set b=": "want path=value",
	} {
		t.Run(line, func(t *testing.T) {
			var said strings.Builder
			exit := execute(t.Context(), append([]string{"node"}, strings.Fields(line)...), io.Discard, &said)
			if exit != exitBadInput || !strings.Contains(said.String(), want) {
				t.Errorf("exit code %d, want %q in %q", exit, want, said.String())
			}
		})
	}
}

// Without the right to raw sockets the error says how to get it.
func TestNodeWithoutRights(t *testing.T) {
	if !sudo.Root() {
		t.Skip("only root can become a user who has no rights")
	}
	m := buildTwoMachines(t)
	if err := os.Chmod(m.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"node", "serve"}, {"node", "ping", "10.7.1.2"}} {
		cmd := m.command(args...)
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		var said strings.Builder
		cmd.Stderr = &said
		err := m.near.Do(cmd.Start)
		if err == nil {
			err = cmd.Wait()
		}
		want := "CAP_NET_RAW: run it with sudo, or once: sudo setcap"
		if code(err) != exitFailed || !strings.Contains(said.String(), want) {
			t.Errorf("%v: %v\n%s", args, err, &said)
		}
	}
}
