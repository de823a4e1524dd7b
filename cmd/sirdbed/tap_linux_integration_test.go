//go:build linux && !portable

package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/device"
	"sirdbed/emu/fabric/rtnl"
)

const tapName = "tap7"

// addTap makes a tap of the machine's, which goes when the file is closed.
func (c *cabled) addTap() (tap *os.File) {
	c.t.Helper()
	err := c.cable.Machine.Do(func() error {
		fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		tap = os.NewFile(uintptr(fd), "tap")
		request, err := unix.NewIfreq(tapName)
		if err != nil {
			return err
		}
		request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		return unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	})
	if os.IsNotExist(err) || os.IsPermission(err) {
		c.t.Skipf("this machine has no taps: %v", err)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { tap.Close() })
	return tap
}

func (c *cabled) lookAtTap() (s *device.Snapshot, err error) {
	c.t.Helper()
	return s, c.cable.Machine.Do(func() error {
		conn, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer conn.Close()
		s, err = device.Look(conn, tapName)
		return err
	})
}

// A tap can be a host's port, and is afterwards what it was. One whose program goes in the
// middle of a run takes nothing with it but itself.
func TestATapComesAndGoes(t *testing.T) {
	c := buildCabled(t)
	tap := c.addTap()
	before, err := c.lookAtTap()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"run", "device.yaml", "--set", "hosts[0].device=" + tapName, "--set", "capture=[h1-1>leaf1]",
		"--set", "drain=1s"}
	out, err := c.output(append(args, "--out", "stays")...)
	if got := code(err); got != exitFine && got != exitInvalid {
		t.Fatalf("exit code %d\n%s", got, out)
	}
	after, err := c.lookAtTap()
	if err != nil {
		t.Fatal(err)
	}
	if d := after.Differences(before); len(d) > 0 {
		t.Errorf("the tap is not as it was:\n%s", strings.Join(d, "\n"))
	}
	if v := c.variant("stays"); len(v.Messages) != 100 {
		t.Errorf("%d messages of the others, want 100", len(v.Messages))
	}

	cmd := c.command(append(args, "--out", "goes", "--set", "duration=2s")...)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	c.start(cmd)
	c.running()
	time.Sleep(200 * time.Millisecond)
	tap.Close()
	err = cmd.Wait()
	if want := "h1-3: device " + tapName + " is gone"; code(err) != exitInvalid ||
		!strings.Contains(said.String(), want) {
		t.Errorf("exit code %d, want %d, and %q in\n%s", code(err), exitInvalid, want, &said)
	}
	if v := c.variant("goes"); len(v.Messages) != 400 {
		t.Errorf("%d messages of the others, want 400", len(v.Messages))
	}
	list, err := c.cable.Machine.Handle(t).LinkList()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range list {
		if name := l.Attrs().Name; name != "lo" && !strings.HasPrefix(name, "cable") {
			t.Errorf("interface %s is left", name)
		}
	}
	if out, err := c.output("clean"); err != nil {
		t.Errorf("clean: %v\n%s", err, out)
	}
}
