//go:build linux

package device

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
)

// A Reason is why an interface is not to be taken.
type Reason struct {
	Text  string `json:"text"`
	Never bool   `json:"never"` // force does not help
}

// A Candidate is an interface, and what is against taking it.
type Candidate struct {
	Snapshot
	Against []Reason `json:"against"`
}

// Survey lists the interfaces of the calling thread's namespace.
func (j Journal) Survey() (list []Candidate, err error) {
	c, err := rtnl.Open()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	links, err := Links(c)
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		s, err := look(c, l)
		if errors.Is(err, unix.ENODEV) {
			continue // it has gone
		}
		if err != nil {
			return nil, err
		}
		candidate := Candidate{Snapshot: *s}
		if candidate.Against, err = reasonsAgainst(c, s); err != nil {
			return nil, err
		}
		if j.Dir != nil {
			if taken, err := j.Taken(l.Index); err != nil {
				return nil, err
			} else if taken {
				candidate.Against = append(candidate.Against, Reason{ErrTaken.Error(), true})
			}
		}
		list = append(list, candidate)
	}
	return list, nil
}

// reasonsAgainst lists what is against taking an interface.
func reasonsAgainst(c *rtnl.Conn, s *Snapshot) (list []Reason, err error) {
	against := func(never bool, format string, args ...any) {
		list = append(list, Reason{fmt.Sprintf(format, args...), never})
	}
	switch {
	case s.Flags&unix.IFF_LOOPBACK != 0:
		against(true, "it is the loopback interface")
		return list, nil
	case s.Type != unix.ARPHRD_ETHER:
		against(true, "its frames are not Ethernet's")
	case s.isBeside():
		against(true, "it stands beside a device that a run has taken")
	}
	if s.Master != 0 {
		master, err := find(c, func(l *Link) bool { return l.Index == s.Master })
		if err != nil && !errors.Is(err, ErrGone) {
			return nil, err
		}
		against(false, "it is a port of %s", master.Name)
	}
	if s.XDP {
		against(false, "an XDP program has its frames first")
	}
	if len(s.Filters) > 0 {
		against(false, "it has filters (tc)")
	}
	if slices.ContainsFunc(s.Routes, Item.isDefault) {
		against(false, "the default route leads over it")
	} else if slices.ContainsFunc(s.Routes, Item.isConfigured) {
		against(false, "routes lead over it")
	}
	if text := s.AddressTexts(); len(text) > 0 {
		against(false, "it has the address %s", strings.Join(text, " and "))
	}
	return list, nil
}

// isBeside reports whether an interface is the end of a fabric's veth pair.
func (s *Snapshot) isBeside() bool {
	var of int
	n, err := fmt.Sscanf(s.Name, "sird%d", &of)
	return n == 1 && err == nil && s.Kind == "veth"
}

func (i Item) isDefault() bool {
	return i.Body[1] == 0 && i.Body[7] == unix.RTN_UNICAST // no bits of a destination
}

// isConfigured reports whether a route is there for other reasons than an address.
func (i Item) isConfigured() bool {
	return i.Body[5] != unix.RTPROT_KERNEL && i.Body[7] == unix.RTN_UNICAST
}

// AddressTexts are the interface's addresses, those aside that it has given itself.
func (s *Snapshot) AddressTexts() (list []string) {
	for _, i := range s.Addresses {
		attrs := i.Body[unix.SizeofIfAddrmsg:]
		raw := rtnl.Find(attrs, unix.IFA_LOCAL)
		if raw == nil {
			raw = rtnl.Find(attrs, unix.IFA_ADDRESS)
		}
		address, ok := netip.AddrFromSlice(raw)
		if ok && !address.IsLinkLocalUnicast() {
			list = append(list, netip.PrefixFrom(address, int(i.Body[1])).String())
		}
	}
	return list
}
