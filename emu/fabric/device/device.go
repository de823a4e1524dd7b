//go:build linux

package device

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A Machine is where devices are.
type Machine struct {
	// Enter runs something on a thread in the machine's network namespace.
	Enter func(func() error) error
	// FD is a descriptor of that namespace, and stays its owner's.
	FD      int
	Journal Journal
}

// A Device is an interface that has been taken for a host. It is for one goroutine.
type Device struct {
	machine *Machine
	conn    *rtnl.Conn // in the machine's namespace
	entry   *entry
	record  *Record
	joint   *joint
}

// Take writes down what an interface is like and keeps others from taking it. Nothing
// is changed yet. What the machine uses is refused unless forced.
func (m *Machine) Take(name string, force bool) (*Device, error) {
	var d *Device
	err := m.Enter(func() (err error) {
		d, err = m.take(name, force)
		return err
	})
	return d, err
}

func (m *Machine) take(name string, force bool) (_ *Device, err error) {
	d := &Device{machine: m}
	defer func() {
		if err != nil {
			d.drop()
		}
	}()
	if d.conn, err = rtnl.Open(); err != nil {
		return nil, err
	}
	before, err := Look(d.conn, name)
	if err != nil {
		return nil, fmt.Errorf("device %w: sirdbed devices lists what there is", err)
	}
	namespace, err := Namespace()
	if err != nil {
		return nil, err
	}
	d.entry, err = m.Journal.begin(recordName(namespace, before.Index))
	if errors.Is(err, ErrTaken) {
		return nil, fmt.Errorf("device %s is %w: sirdbed clean lists those in progress", name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("device %s: %w", name, err)
	}
	if left, err := d.entry.read(); left != nil || err != nil { // by a run that was killed
		err = cmp.Or(err, restore(d.conn, left))
		if err == nil {
			before, err = Look(d.conn, name)
		}
		if err != nil {
			return nil, fmt.Errorf("device %s, as a killed run has left it: %w", name, err)
		}
	}
	if err := refuse(d.conn, before, force); err != nil {
		return nil, errors.Join(err, d.entry.remove())
	}
	d.record = &Record{Namespace: namespace, Cookie: cookie(), PID: os.Getpid(), Taken: time.Now(), Before: *before,
		Beside: fmt.Sprintf("sird%d", before.Index)}
	if d.record.Boot, err = boot(); err != nil {
		return nil, err
	}
	return d, d.entry.write(d.record)
}

// refuse returns why an interface is not to be taken.
func refuse(c *rtnl.Conn, s *Snapshot, force bool) error {
	var why, used []string
	reasons, err := reasonsAgainst(c, s)
	if err != nil {
		return err
	}
	for _, r := range reasons {
		if r.Never {
			why = append(why, r.Text)
		} else if !force {
			used = append(used, r.Text)
		}
	}
	switch {
	case len(why) > 0:
		return fmt.Errorf("device %s cannot be taken: %s", s.Name, strings.Join(why, ", "))
	case len(used) > 0:
		return fmt.Errorf("device %s is in use: %s. With force: true it is taken all the same, and what uses it "+
			"stands still until the run has ended", s.Name, strings.Join(used, ", "))
	}
	return nil
}

// drop gives back what Take has, and leaves the record.
func (d *Device) drop() {
	if d.entry != nil {
		d.entry.close()
	}
	if d.conn != nil {
		d.conn.Close()
	}
}

// Name is the interface's name.
func (d *Device) Name() string { return d.record.Before.Name }

// MAC is the interface's address, the one by which the other end knows the leaf.
func (d *Device) MAC() topo.MAC { return d.record.Before.MAC }

// Beside is the name that the end of the veth pair in the machine's namespace must have,
// whose descriptor NamespaceFD is.
func (d *Device) Beside() string { return d.record.Beside }

// NamespaceFD is a descriptor of the machine's namespace. It is not the caller's.
func (d *Device) NamespaceFD() int { return d.machine.FD }

// Attach joins the interface to the end of the veth pair beside it, which is there and
// down, and brings both up, for packets of up to mtu.
func (d *Device) Attach(mtu units.Bytes) error {
	return d.machine.Enter(func() error {
		if err := d.attach(uint32(mtu)); err != nil {
			return fmt.Errorf("device %s: %w", d.Name(), err)
		}
		return nil
	})
}

// Legacy ethtool commands (include/uapi/linux/ethtool.h).
var noOffloads = []uint32{0x17, 0x19, 0x2c} // ETHTOOL_STXCSUM, ETHTOOL_SSG, ETHTOOL_SGRO

func (d *Device) attach(mtu uint32) (err error) {
	own := &d.record.Before.Link
	beside, err := named(d.conn, d.record.Beside)
	if err != nil {
		return err
	}
	for _, command := range noOffloads {
		if _, err := d.conn.Ethtool(beside.Name, command, 0); err != nil {
			return err
		}
	}
	if d.joint, err = join(d.conn, own, &beside); err != nil {
		return err
	}
	if own.MaxMTU != 0 && mtu > own.MaxMTU {
		return fmt.Errorf("its MTU is %d at most, and topology.mtu %d", own.MaxMTU, mtu)
	}
	if err := d.record.Before.Features.off().set(own.Name); err != nil {
		return err
	}
	var b rtnl.Batch
	if own.MTU < mtu {
		setMTU(&b, own, mtu)
	}
	b.LinkUp(beside.Index, beside.Name)
	b.LinkUp(own.Index, own.Name)
	return d.conn.Do(&b)
}

func setMTU(b *rtnl.Batch, l *Link, mtu uint32) {
	b.Request(fmt.Sprintf("set MTU %d", mtu), l.Name, unix.RTM_NEWLINK, 0, rtnl.Link(l.Index, 0, 0))
	b.Uint32(unix.IFLA_MTU, mtu)
}

// Release makes the interface again what it was, and lets others take it. If that fails
// the record stays, for Restore. Releasing twice does nothing.
func (d *Device) Release() error {
	if d.record == nil {
		return nil
	}
	err := d.machine.Enter(func() error { return restore(d.conn, d.record) })
	if d.joint != nil {
		err = errors.Join(err, d.joint.close())
	}
	if err == nil {
		err = d.entry.remove()
	}
	if err != nil {
		err = fmt.Errorf("device %s is not what it was: %w: sirdbed clean tries again", d.Name(), err)
	}
	d.record = nil
	d.drop()
	return err
}
