//go:build linux && !portable

package main

import (
	"encoding/json"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"sirdbed/scenarios"
)

// What is at the far end of a cable takes part in a fabric that is up. The device is what it
// was once down has taken the fabric down, and once all that kept it up was killed.
func TestUpTakesDevices(t *testing.T) {
	c := buildCabled(t)
	c.use()
	c.joinAsTopoSays()
	before := c.look()
	s, err := scenarios.Load(c.dir + "/device.yaml")
	if err != nil {
		t.Fatal(err)
	}
	to := netip.AddrPortFrom(netip.AddrFrom4(s.Fabric().KernelAddr(0)), 9).String()
	for _, killed := range []bool{false, true} {
		if out, err := c.output("up", "device.yaml"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		answered := within(t.Context(), 10*time.Second, func() bool { return c.knock(to) > 0 })
		if !answered {
			t.Error("nothing came back to the far end of the cable")
		}
		if len(c.differences(before)) == 0 {
			t.Error("the fabric is up, and the device as if it was not taken")
		}
		if out, err := c.output("exec", "h1-3", "true"); code(err) != exitBadInput ||
			!strings.Contains(out, "h1-3 is a device") {
			t.Errorf("exec in the device exits with %d:\n%s", code(err), out)
		}
		if killed {
			c.killWhatIsUp()
		} else if out, err := c.output("down"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		c.gone()
		if out, err := c.output("clean"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if d := c.differences(before); len(d) > 0 {
			t.Errorf("killed %t: the device is not as it was:\n%s", killed, strings.Join(d, "\n"))
		}
	}
}

// killWhatIsUp kills the processes that keep the one fabric up.
func (c *cabled) killWhatIsUp() {
	c.t.Helper()
	out, err := c.output("ps", "--json")
	var list []ListedFabric
	if err == nil {
		err = json.Unmarshal([]byte(out), &list)
	}
	if err != nil || len(list) != 1 {
		c.t.Fatalf("ps: %v: %s", err, out)
	}
	for _, pid := range list[0].PIDs {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended with those before
	}
}

// A fabric that is up is no run, which peers could join.
func TestUpHasNoPeersJoin(t *testing.T) {
	c := buildCabled(t)
	before := c.look()
	out, err := c.output("up", "device.yaml", "--set", "hosts[0].join=true")
	if code(err) != exitBadInput || !strings.Contains(out, "there is no run to join") {
		t.Errorf("exit code %d, want %d\n%s", code(err), exitBadInput, out)
	}
	if d := c.differences(before); len(d) > 0 {
		t.Errorf("the device is not as it was:\n%s", strings.Join(d, "\n"))
	}
}
