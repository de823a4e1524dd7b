//go:build linux && !portable

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sirdbed/capture/results"
	"sirdbed/emu/fabric/device"
	"sirdbed/scenarios"
	"sirdbed/sirdnode/nstest"
)

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
