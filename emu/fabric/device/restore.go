//go:build linux

package device

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
)

// Restore makes what killed runs have taken, of the calling thread's namespace, again
// what it was, and returns the names of these devices. It waits up to a time for runs
// that just end; those in progress it leaves alone.
func (j Journal) Restore(wait time.Duration) (restored []string, err error) {
	names, err := j.names()
	if err != nil {
		return nil, err
	}
	until := time.Now().Add(wait)
	for _, name := range names {
		for {
			device, e := j.restore(name)
			if errors.Is(e, ErrTaken) && time.Now().Before(until) {
				time.Sleep(10 * time.Millisecond)
				continue
			}
			if e != nil && !errors.Is(e, ErrTaken) {
				err = errors.Join(err, e)
			}
			if device != "" {
				restored = append(restored, device)
			}
			break
		}
	}
	return restored, err
}

// Elsewhere lists the records of devices in other network namespaces that no run has:
// who calls Restore there makes them again what they were.
func (j Journal) Elsewhere() (list []Record, err error) {
	names, err := j.names()
	for _, name := range names {
		e, err := j.lock(name)
		if err != nil {
			continue // a run has it, or it is gone
		}
		r, err := e.read()
		e.close()
		if err != nil || r == nil {
			continue
		}
		if at, err := r.place(); err == nil && at == elsewhere {
			list = append(list, *r)
		}
	}
	return list, err
}

// restore restores the device of a record, and returns its name if there was something
// to do.
func (j Journal) restore(name string) (device string, err error) {
	e, err := j.lock(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer e.close()
	r, err := e.read()
	if err != nil {
		return "", err
	}
	if r != nil {
		at, err := r.place()
		if err != nil || at == elsewhere {
			return "", err
		}
		c, err := rtnl.Open()
		if err != nil {
			return "", err
		}
		defer c.Close()
		if err := restore(c, r); err != nil {
			return "", fmt.Errorf("device %s is not what it was before a run that was killed: %w",
				r.Before.Name, err)
		}
		if at == here {
			device = r.Before.Name
		}
	}
	return device, e.remove()
}

// A place is where the device of a record is, as seen from the calling thread.
type place uint8

const (
	here      place = iota // in this network namespace
	elsewhere              // in another one, of which a clean there knows
	nowhere                // its namespace is gone, or the machine was started anew
)

func (r *Record) place() (place, error) {
	namespace, err := Namespace()
	if err != nil {
		return elsewhere, err
	}
	now, err := boot()
	switch {
	case err != nil:
		return elsewhere, err
	case r.Boot != now, r.Namespace == namespace && r.Cookie != cookie():
		return nowhere, nil
	case r.Namespace != namespace:
		return elsewhere, nil
	}
	return here, nil
}

// restore makes a device again what it was. It may be called again, also after it was
// broken off.
func restore(c *rtnl.Conn, r *Record) error {
	if at, err := r.place(); err != nil || at != here {
		return err
	}
	if err := removeBeside(c, r); err != nil {
		return err
	}
	before := &r.Before
	link, err := find(c, func(l *Link) bool { return l.Index == before.Index && l.MAC == before.MAC })
	if errors.Is(err, ErrGone) {
		return nil // unplugged
	}
	if err != nil {
		return err
	}
	now, err := look(c, link)
	if err != nil {
		return err
	}
	if err := removeFilters(c, now, before); err != nil {
		return err
	}
	back := Features{}
	for _, name := range unwanted {
		if before.Features[name] && !now.Features[name] {
			back[name] = true
		}
	}
	if err := back.set(now.Name); err != nil {
		return err
	}
	if err := restoreLink(c, now, before); err != nil {
		return err
	}
	return restoreItems(c, before)
}

// removeBeside removes the veth pair, if the namespaces of its other end have not taken
// it along yet.
func removeBeside(c *rtnl.Conn, r *Record) error {
	beside, err := named(c, r.Beside)
	if errors.Is(err, ErrGone) || err == nil && beside.Kind != "veth" {
		return nil
	}
	if err != nil {
		return err
	}
	var b rtnl.Batch
	b.Request("remove veth", beside.Name, unix.RTM_DELLINK, 0, rtnl.Link(beside.Index, 0, 0))
	if err := c.Do(&b); !errors.Is(err, unix.ENODEV) {
		return err
	}
	return nil
}

// restoreLink restores whether the interface is up, and its MTU.
func restoreLink(c *rtnl.Conn, now, before *Snapshot) error {
	var b rtnl.Batch
	if now.Up() != before.Up() {
		op := "bring down"
		if before.Up() {
			op = "bring up"
		}
		b.Request(op, now.Name, unix.RTM_NEWLINK, 0, rtnl.Link(now.Index, before.Flags&unix.IFF_UP, unix.IFF_UP))
	}
	if now.MTU != before.MTU {
		setMTU(&b, &now.Link, before.MTU)
	}
	if before.Qdisc == "noop" && now.Qdisc != "noop" && !before.Up() {
		// The default qdisc has no handle by which it could be removed.
		for _, r := range []struct {
			op         string
			typ, flags uint16
		}{{"replace qdisc", unix.RTM_NEWQDISC, unix.NLM_F_CREATE | unix.NLM_F_REPLACE},
			{"remove qdisc", unix.RTM_DELQDISC, 0}} {
			b.Request(r.op, now.Name, r.typ, r.flags, rtnl.Traffic(now.Index, 1<<16, rootQdisc, 0))
			b.String(unix.TCA_KIND, "pfifo")
		}
	}
	return c.Do(&b)
}

const rootQdisc = 0xffffffff // TC_H_ROOT

// restoreItems makes anew what went with the interface as it was brought down:
// addresses, then the routes that need them. The kernel's own it makes itself.
func restoreItems(c *rtnl.Conn, before *Snapshot) error {
	now, err := look(c, before.Link)
	if err != nil {
		return err
	}
	lost := append(missing(before.Addresses, now.Addresses), missing(before.Routes, now.Routes)...)
	for _, i := range append(lost, missing(before.Neighbors, now.Neighbors)...) {
		if i.isKernels() {
			continue
		}
		var b rtnl.Batch
		i.again(&b, before.Name)
		if err := c.Do(&b); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	return nil
}

// isKernels reports whether an item is a route that follows from an address.
func (i Item) isKernels() bool { return i.Type == unix.RTM_NEWROUTE && i.Body[5] == unix.RTPROT_KERNEL }
