//go:build linux && !portable

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"sirdbed/capture/results"
	"sirdbed/emu/fabric"
	"sirdbed/emu/fabric/device"
	"sirdbed/emu/fabric/rtnl"
	"sirdbed/scenarios"
	"sirdbed/sirdnode/nstest"
)

// The third host is what a cable leads to. Marks take root where the kernel has no RED.
const deviceScenario = `name: device
engine: real
topology: {leaves: 1, hosts_per_leaf: 3, host_rate: 100Mbps, host_delay: 1us}
hosts:
  - {name: h1-3, device: cable0, force: true}
sird: {ecn: none}
traffic:
  - {name: small, pattern: fixed, from: [h1-1], to: [h1-2], size: 1000B, interval: 5ms}
duration: 500ms
capture: ['leaf1>h1-3']
`

// A cabled is sirdbed as built on a machine with a device. Its runs are in a namespace of
// the test's own, which stands for the machine.
type cabled struct {
	*program
	cable *nstest.Cable
	cabledKills
}

func buildCabled(t *testing.T) *cabled {
	t.Helper()
	b := build(t)
	nstest.RequireNetAdmin(t)
	if f := fabric.Probe(fabric.FeatureTCX); f.Err != nil {
		t.Skipf("devices: %v", f.Err)
	}
	b.write("device.yaml", deviceScenario)
	return &cabled{program: b, cable: nstest.NewCable(t)}
}

// start starts a command on the machine.
func (c *cabled) start(cmd *exec.Cmd) {
	c.t.Helper()
	if err := c.cable.Machine.Do(cmd.Start); err != nil {
		c.t.Fatal(err)
	}
}

// output is what a command on the machine prints, all of it.
func (c *cabled) output(args ...string) (string, error) {
	c.t.Helper()
	cmd := c.command(args...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	c.start(cmd)
	err := cmd.Wait()
	return out.String(), err
}

// look takes a snapshot of the device.
func (c *cabled) look() (s *device.Snapshot) {
	c.t.Helper()
	err := c.cable.Machine.Do(func() error {
		conn, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer conn.Close()
		s, err = device.Look(conn, nstest.CableNear)
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// differences are what is not as before, on the machine and at its device.
func (c *cabled) differences(before *device.Snapshot) (list []string) {
	c.t.Helper()
	list = c.look().Differences(before)
	links, err := c.cable.Machine.Handle(c.t).LinkList()
	if err != nil {
		c.t.Fatal(err)
	}
	for _, l := range links {
		if name := l.Attrs().Name; name != "lo" && name != nstest.CableNear {
			list = append(list, "interface "+name)
		}
	}
	return list
}

// use has the machine use its device: an address, a neighbor, and another MTU.
func (c *cabled) use() {
	c.t.Helper()
	h, l := c.cable.Machine.Handle(c.t), c.cable.Near(c.t)
	a, err := netlink.ParseAddr("192.0.2.1/24")
	if err == nil {
		err = h.AddrAdd(l, a)
	}
	if err == nil {
		err = h.LinkSetMTU(l, 1400)
	}
	if err == nil {
		err = h.NeighAdd(&netlink.Neigh{LinkIndex: l.Attrs().Index, IP: net.IPv4(192, 0, 2, 2),
			State: netlink.NUD_PERMANENT, HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 9}})
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// joinAsTopoSays configures the far end by the commands that topo prints.
func (c *cabled) joinAsTopoSays() {
	c.t.Helper()
	if _, err := exec.LookPath("ip"); err != nil {
		c.t.Skip("the program ip is not there: apt install iproute2")
	}
	out, err := c.output("topo", "device.yaml", "--json")
	var f Fabric
	if err == nil {
		err = json.Unmarshal([]byte(out), &f)
	}
	if err != nil || len(f.Devices) != 1 || f.Devices[0].MAC == "" {
		c.t.Fatalf("topo: %v, devices %+v\n%s", err, f.Devices, out)
	}
	for _, line := range f.Devices[0].PeerCommands {
		cmd := c.other("/bin/sh", "-c", "DEV="+nstest.CableFar+"; "+line)
		var said strings.Builder
		cmd.Stderr = &said
		if err := c.cable.Far.Do(cmd.Start); err != nil {
			c.t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			c.t.Fatalf("%s: %v\n%s", line, err, &said)
		}
	}
}

// What is at the far end of a cable takes part: its packets pass through the fabric, and
// answers to it through its port, where they are counted and captured. Afterwards the
// device is what it was.
func TestHardwareTakesPart(t *testing.T) {
	c := buildCabled(t)
	c.use()
	c.joinAsTopoSays()
	before := c.look()
	cmd := c.command("run", "device.yaml", "--out", "r", "--json")
	var said strings.Builder
	cmd.Stderr = &said
	c.start(cmd)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	// To a port that nobody listens at: the kernel of h1-1 refuses each connection.
	s, err := scenarios.Load(c.dir + "/device.yaml")
	if err != nil {
		t.Fatal(err)
	}
	to := netip.AddrPortFrom(netip.AddrFrom4(s.Fabric().KernelAddr(0)), 9).String()
	refused := 0
	for over := false; !over; {
		select {
		case err = <-ended:
			over = true
		case <-time.After(5 * time.Millisecond):
			refused += c.knock(to)
		}
	}
	if got := code(err); got != exitFine && got != exitInvalid {
		t.Fatalf("exit code %d\n%s", got, &said)
	}
	if d := c.differences(before); len(d) > 0 {
		t.Errorf("the device is not as it was:\n%s", strings.Join(d, "\n"))
	}
	v := c.variant("r")
	if refused == 0 {
		t.Fatalf("nothing came back to the far end of the cable\n%s", &said)
	}
	counted := int64(0)
	for _, p := range v.Facts.Ports {
		if p.Name == "leaf1>h1-3" {
			counted = p.Packets
		}
	}
	captured := 0
	for _, r := range v.Captures {
		captured += r.Frames
	}
	// Both directions, and those whose answer was still to come.
	if counted == 0 || captured == 0 || captured > 2*int(counted)+10 {
		t.Errorf("%d answers came back; the port has counted %d packets, and %d frames were captured",
			refused, counted, captured)
	}
	for _, check := range v.Verdict.Checks {
		if check.Level == results.Invalid && (check.Name == "link drops" || check.Name == "hosts" ||
			check.Name == "host log" || check.Name == "integrity" || check.Name == "conservation") {
			t.Errorf("%s: %s", check.Name, check.Found)
		}
	}
	if got := len(v.Messages); got != 100 {
		t.Errorf("%d messages of the others, want 100", got)
	}
}

// knock has the far end connect to a port, and returns 1 if that was refused.
func (c *cabled) knock(to string) (refused int) {
	err := c.cable.Far.Do(func() error {
		conn, err := net.DialTimeout("tcp4", to, 5*time.Millisecond)
		if err == nil {
			conn.Close()
		}
		return err
	})
	if errors.Is(err, syscall.ECONNREFUSED) {
		return 1
	}
	return 0
}

// What cannot be is refused before anything is made, and says what to do.
func TestDevicesThatCannotBeTaken(t *testing.T) {
	c := buildCabled(t)
	c.use()
	before := c.look()
	for _, k := range []struct {
		args, want string
	}{
		{"--engine model", "use --engine real"},
		{"--engine virtual", "use --engine real"},
		{"--dilation 10", "use --dilation 1"},
		{"--set dilation=10", "want 1, or leave it out"},
		{"--set hosts[0].device=nowhere0", "no such interface: sirdbed devices lists what there is"},
		{"--set hosts[0].device=lo", "it is the loopback interface"},
		{"--set hosts[0].force=false", "it has the address 192.0.2.1/24. With force: true"},
		{"--set hosts[0].name=h1-1", "a stream from it needs its peer to join the run"},
		{"--set traffic[0].to=[h1-3] --set traffic[0].reply=8B", "a stream from it needs its peer to join the run"},
	} {
		out, err := c.output(append([]string{"run", "device.yaml", "--out", "r"}, strings.Fields(k.args)...)...)
		if code(err) != exitBadInput || !strings.Contains(out, k.want) {
			t.Errorf("%s: exit code %d, want %d, and %q in\n%s", k.args, code(err), exitBadInput, k.want, out)
		}
	}
	if d := c.differences(before); len(d) > 0 {
		t.Errorf("the device is not as it was:\n%s", strings.Join(d, "\n"))
	}
}

// devices says what can be taken, and why not.
func TestDevicesAreListed(t *testing.T) {
	c := buildCabled(t)
	list := func() (found map[string]device.Candidate) {
		t.Helper()
		out, err := c.output("devices", "--json")
		var all []device.Candidate
		if err == nil {
			err = json.Unmarshal([]byte(out), &all)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		found = map[string]device.Candidate{}
		for _, d := range all {
			found[d.Name] = d
		}
		return found
	}
	if d := list(); len(d) != 2 || len(d[nstest.CableNear].Against) != 0 || len(d["lo"].Against) == 0 {
		t.Errorf("got %+v, want lo that cannot be taken, and %s that can", d, nstest.CableNear)
	}
	c.use()
	if d := list()[nstest.CableNear]; len(d.Against) != 1 || d.Against[0].Never {
		t.Errorf("against what is used is %+v, want one reason", d.Against)
	}
	cmd := c.command("run", "device.yaml", "--out", "r", "--hold", "--json")
	c.start(cmd)
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
		c.gone()
	}()
	c.running()
	now := list()
	for _, name := range []string{nstest.CableNear, fmt.Sprintf("sird%d", now[nstest.CableNear].Index)} {
		if !slices.ContainsFunc(now[name].Against, func(r device.Reason) bool { return r.Never }) {
			t.Errorf("against %s, of a run in progress, is %+v", name, now[name].Against)
		}
	}
	if out, err := c.output("run", "device.yaml", "--out", "r2"); code(err) != exitBadInput ||
		!strings.Contains(out, device.ErrTaken.Error()) {
		t.Errorf("a second run exits with %d:\n%s", code(err), out)
	}
}
