//go:build linux

package device

import (
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"sirdbed/sirdnode/nstest"
)

// What a device was like it is again when it is released.
func TestReleasedDeviceIsAsItWas(t *testing.T) {
	eachState(t, func(t *testing.T, b *bench) {
		before := b.look()
		d := b.attach(1500, true)
		now := b.look()
		if !now.Up() || now.MTU < 1500 || now.Features["rx-gro"] || now.MAC != before.MAC {
			t.Errorf("taken, it is up %v with MTU %d, GRO %v and address %v: want it up, 1500 or more, no GRO, %v",
				now.Up(), now.MTU, now.Features["rx-gro"], now.MAC, before.MAC)
		}
		b.must(d.Release())
		b.must(d.Release())
		b.unchanged(before)
	})
}

// What a process that was killed has taken, another one restores; so does the next who
// takes the device.
func TestKilledTakersDeviceIsRestored(t *testing.T) {
	eachState(t, func(t *testing.T, b *bench) {
		before := b.look()
		for _, next := range []string{"clean", "take"} {
			d := b.attach(1500, true)
			if _, err := b.machine.Take(nstest.CableNear, true); !errors.Is(err, ErrTaken) {
				t.Fatalf("taken twice: %v", err)
			}
			b.must(d.joint.close()) // as a process that ends
			d.drop()
			if next == "take" {
				d, err := b.machine.Take(nstest.CableNear, true)
				b.must(err)
				b.must(d.Release())
			}
			b.must(b.machine.Enter(func() error {
				restored, err := b.machine.Journal.Restore(0)
				if want := next == "clean"; slices.Equal(restored, []string{nstest.CableNear}) != want {
					t.Errorf("%s: restored %v", next, restored)
				}
				return err
			}))
			b.unchanged(before)
		}
	})
}

// Runs in progress are left alone.
func TestRestoreLeavesRunsAlone(t *testing.T) {
	b := newBench(t)
	b.requireBPF()
	d := b.attach(1500, false)
	b.must(b.machine.Enter(func() error {
		restored, err := b.machine.Journal.Restore(50 * time.Millisecond)
		if len(restored) > 0 {
			t.Errorf("restored %v", restored)
		}
		return err
	}))
	if !b.look().Up() {
		t.Error("the device of a run in progress was brought down")
	}
	b.must(d.Release())
}

// A record that was cut off is of a device that was not changed yet.
func TestRecordThatWasCutOff(t *testing.T) {
	b := newBench(t)
	before := b.look()
	d, err := b.machine.Take(nstest.CableNear, false)
	b.must(err)
	info, err := d.entry.file.Stat()
	b.must(err)
	for _, size := range []int64{0, 1, info.Size() / 2, info.Size() - 1} {
		b.must(d.entry.file.Truncate(size))
		e := &entry{b.machine.Journal, d.entry.name, d.entry.file}
		_, err := e.file.Seek(0, 0)
		b.must(err)
		if r, err := e.read(); r != nil || err != nil {
			t.Errorf("of %d bytes: %v, %v, want none", size, r, err)
		}
	}
	d.drop()
	b.must(b.machine.Enter(func() error {
		_, err := b.machine.Journal.Restore(0)
		return err
	}))
	b.unchanged(before)
}

// A record of another namespace is for a clean there, one from before the machine was
// started for nobody.
func TestRecordsOfOtherPlacesAndTimes(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		name   string
		change func(*Record)
		left   int
	}{
		{"namespace", func(r *Record) { r.Namespace = "net:[1]" }, 1},
		{"boot", func(r *Record) { r.Boot = "another" }, 0},
		{"namespace that is gone", func(r *Record) { r.Cookie = 1 << 60 }, 0},
		{"unplugged", func(r *Record) { r.Before.Index = 1 << 20 }, 0},
	} {
		d, err := b.machine.Take(nstest.CableNear, false)
		b.must(err)
		c.change(d.record)
		b.must(d.entry.write(d.record))
		d.drop()
		b.must(b.machine.Enter(func() error {
			_, err := b.machine.Journal.Restore(0)
			return err
		}))
		names, err := b.machine.Journal.names()
		b.must(err)
		var elsewhere []Record
		b.must(b.machine.Enter(func() (err error) {
			elsewhere, err = b.machine.Journal.Elsewhere()
			return err
		}))
		if len(names) != c.left || len(elsewhere) != c.left {
			t.Errorf("%s: %d records are left and %d elsewhere, want %d", c.name, len(names), len(elsewhere), c.left)
		}
		for _, name := range names {
			b.must(b.machine.Journal.Dir.Remove(name))
		}
	}
}

// A tap comes and goes; so does a card that is pulled out. A run has then nothing to give
// back.
func TestDeviceThatGoes(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(*bench) error
	}{
		{"veth", func(*bench) error { return nil }},
		{"tap", func(b *bench) error {
			if err := b.near.LinkDel(b.cable.Near(b.t)); err != nil {
				return err
			}
			return b.cable.Machine.Do(func() error {
				tap := &netlink.Tuntap{LinkAttrs: netlink.LinkAttrs{Name: nstest.CableNear},
					Mode: netlink.TUNTAP_MODE_TAP, Queues: 1}
				err := netlink.LinkAdd(tap)
				for _, fd := range tap.Fds {
					err = errors.Join(err, fd.Close())
				}
				return err
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.requireBPF()
			if err := c.make(b); err != nil {
				t.Skipf("make a %s: %v", c.name, err)
			}
			before := b.look()
			d := b.attach(1500, false)
			b.must(d.Release())
			b.unchanged(before)
			d = b.attach(1500, false)
			b.must(b.near.LinkDel(b.cable.Near(t)))
			b.must(d.Release())
			list, err := b.near.LinkList()
			b.must(err)
			if len(list) != 1 { // lo
				t.Errorf("the machine has %d interfaces, want 1", len(list))
			}
		})
	}
}

// What the machine uses is refused, with what to do.
func TestDevicesInUseAreRefused(t *testing.T) {
	b := newBench(t)
	refused := func(want string) {
		t.Helper()
		_, err := b.machine.Take(nstest.CableNear, false)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "force: true") {
			t.Errorf("got %v, want an error with %q and what to do", err, want)
		}
		if names, _ := b.machine.Journal.names(); len(names) > 0 {
			t.Errorf("what was refused is in the journal: %v", names)
		}
	}
	states[1].make(b)
	refused("it has the address 192.0.2.1/24 and 2001:db8::1/64")
	states[2].make(b)
	states[3].make(b)
	refused("the default route leads over it, it has the address 192.0.2.1/24")
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "br0"}}
	if b.near.LinkAdd(bridge) == nil {
		b.must(b.near.LinkSetMaster(b.cable.Near(t), bridge))
		refused("it is a port of br0")
	}
	for name, want := range map[string]string{"lo": "it is the loopback interface", "nowhere0": "no such interface"} {
		if _, err := b.machine.Take(name, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, want)
		}
	}
}

// Nothing of the machine's own leaves a device that is taken, and nothing that arrives
// gets to it.
func TestMachineIsSilentOnTakenDevice(t *testing.T) {
	for _, how := range []string{"links", "filters"} {
		t.Run(how, func(t *testing.T) {
			b := newBench(t)
			b.requireBPF()
			classic = how == "filters"
			t.Cleanup(func() { classic = false })
			states[1].make(b)
			far := b.cable.Far.Handle(t)
			l, err := far.LinkByName(nstest.CableFar)
			b.must(err)
			a, err := netlink.ParseAddr("192.0.2.2/24")
			b.must(err)
			b.must(far.AddrAdd(l, a))
			d := b.attach(1500, true)
			l, err = far.LinkByName(nstest.CableFar)
			b.must(err)
			counted := l.Attrs().Statistics.RxPackets
			send := func(from *nstest.Net, to string) {
				b.must(from.Do(func() error {
					c, err := net.Dial("udp4", to)
					if err != nil {
						return err
					}
					defer c.Close()
					_, _ = c.Write([]byte("x")) // a filter that drops may be an error to it
					return nil
				}))
			}
			var heard net.PacketConn
			b.must(b.cable.Machine.Do(func() (err error) {
				heard, err = net.ListenPacket("udp4", "192.0.2.1:7000")
				return err
			}))
			defer heard.Close()
			send(b.cable.Machine, "192.0.2.2:7000")
			send(b.cable.Far, "192.0.2.1:7000")
			heard.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
			if n, _, err := heard.ReadFrom(make([]byte, 100)); err == nil {
				t.Errorf("the machine got %d bytes", n)
			}
			l, err = far.LinkByName(nstest.CableFar)
			b.must(err)
			if n := l.Attrs().Statistics.RxPackets - counted; n != 0 {
				t.Errorf("%d packets of the machine's own left", n)
			}
			b.must(d.Release())
			send(b.cable.Far, "192.0.2.1:7000") // down again, as it was
		})
	}
}

func TestMain(m *testing.M) { nstest.Main(m) }
