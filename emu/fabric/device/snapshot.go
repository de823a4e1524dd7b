//go:build linux

package device

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
)

// A Snapshot is all that the machine has configured at an interface.
type Snapshot struct {
	Link
	Features  Features `json:"features"`
	Addresses []Item   `json:"addresses,omitempty"`
	Routes    []Item   `json:"routes,omitempty"`    // of all tables, over it
	Neighbors []Item   `json:"neighbors,omitempty"` // permanent ones
	Qdiscs    []Item   `json:"qdiscs,omitempty"`
	Filters   []Item   `json:"filters,omitempty"` // of clsact
}

// Look takes a snapshot of an interface.
func Look(c *rtnl.Conn, name string) (*Snapshot, error) {
	link, err := named(c, name)
	if err != nil {
		return nil, err
	}
	return look(c, link)
}

func look(c *rtnl.Conn, link Link) (*Snapshot, error) {
	s := &Snapshot{Link: link}
	var err error
	if s.Features, err = readFeatures(link.Name); err != nil {
		return nil, err
	}
	for _, k := range []struct {
		into *[]Item
		kind kind
	}{{&s.Addresses, addresses}, {&s.Routes, routes}, {&s.Neighbors, neighbors}, {&s.Qdiscs, qdiscs}} {
		if *k.into, err = k.kind.list(c, link.Index); err != nil {
			return nil, fmt.Errorf("%s: %w", link.Name, err)
		}
	}
	s.Filters, err = filters(c, link.Index, s.Qdiscs)
	return s, err
}

// Differences names what is not as it was in an older snapshot.
func (s *Snapshot) Differences(before *Snapshot) (list []string) {
	if now, then := s.Link, before.Link; now != then {
		list = append(list, fmt.Sprintf("link %+v, was %+v", now, then))
	}
	for _, name := range slices.Sorted(maps.Keys(before.Features)) {
		if s.Features[name] != before.Features[name] {
			list = append(list, fmt.Sprintf("feature %s is %v", name, s.Features[name]))
		}
	}
	for _, k := range []struct {
		name      string
		now, then []Item
	}{
		{"address", s.Addresses, before.Addresses}, {"route", s.Routes, before.Routes},
		{"neighbor", s.Neighbors, before.Neighbors}, {"qdisc", s.Qdiscs, before.Qdiscs},
		{"filter", s.Filters, before.Filters},
	} {
		for _, i := range missing(k.then, k.now) {
			list = append(list, k.name+" is gone: "+i.key())
		}
		for _, i := range missing(k.now, k.then) {
			list = append(list, k.name+" is new: "+i.key())
		}
	}
	return list
}

// missing lists the items that others have not.
func missing(items, others []Item) (list []Item) {
	has := map[string]bool{}
	for _, i := range others {
		has[i.key()] = true
	}
	for _, i := range items {
		if !has[i.key()] {
			list = append(list, i)
		}
	}
	return list
}

// filters lists those of an interface's clsact, if it has one.
func filters(c *rtnl.Conn, index int, qdiscs []Item) (list []Item, err error) {
	if !slices.ContainsFunc(qdiscs, Item.isClsact) {
		return nil, nil
	}
	for _, parent := range []uint32{clsactIngress, clsactEgress} {
		err := c.Dump("list filters", unix.RTM_GETTFILTER, rtnl.Traffic(index, 0, parent, 0),
			func(typ uint16, body []byte) error {
				if typ == unix.RTM_NEWTFILTER && len(body) >= sizeofTcMsg {
					list = append(list, Item{Type: typ, Body: slices.Clone(body)})
				}
				return nil
			})
		if err != nil {
			return nil, fmt.Errorf("interface %d: %w", index, err)
		}
	}
	return list, nil
}

func (i Item) isClsact() bool {
	return i.Type == unix.RTM_NEWQDISC && binary.NativeEndian.Uint32(i.Body[12:]) == parentClsact
}
