//go:build linux && !portable

package main

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"sirdbed/emu/fabric"
	"sirdbed/emu/fabric/device"
	"sirdbed/emu/fabric/rtnl"
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
	if os.Geteuid() != 0 {
		t.Skip("devices are taken by root alone")
	}
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
