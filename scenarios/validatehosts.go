package scenarios

import (
	"errors"
	"fmt"
	"slices"

	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/traffic"
)

// validateHosts checks the hosts that are devices, and that nothing is asked of them
// that only a host process does.
func (s *Scenario) validateHosts() *Error {
	if e, ok := errors.AsType[*topo.SpecError](emu.ValidateHosts(s.fabric, s.Hosts)); ok {
		return s.src.errorIn(e.Field, "%s", e.Reason)
	}
	if len(s.Hosts) == 0 {
		return nil
	}
	if s.Dilation > 1 {
		return s.src.errorIn("dilation",
			"%v, and %s is a device, whose clock cannot be stretched: want 1, or leave it out", s.Dilation,
			s.Hosts[0].Name)
	}
	for i := range s.Apps {
		if slices.ContainsFunc(s.Hosts, func(h emu.HostSpec) bool { return h.Name == s.Apps[i].Host }) {
			return s.src.errorIn(fmt.Sprintf("apps[%d].host", i),
				"%s is a device: programs there are started at the other end of its cable, not by the run",
				s.Apps[i].Host)
		}
	}
	for _, h := range s.Hosts {
		if h.Join {
			continue // its peer does all that others do
		}
		id, _ := s.fabric.Host(h.Name)
		for i := range s.Traffic {
			to, err := traffic.Peers(s.fabric, s.Traffic[i:i+1], id)
			if err != nil || len(to) == 0 {
				continue // validateTraffic has reported the one
			}
			field := "from"
			if s.Traffic[i].Pattern == traffic.PatternList {
				field = "file"
			}
			return s.src.errorIn(fmt.Sprintf("traffic[%d].%s", i, field),
				"%s is the device %s, and sirdbed runs nothing behind it that could send or answer: a stream "+
					"from it needs its peer to join the run (join: true, and sirdbed node join there). "+
					"Or name the hosts that send (from), and those that answer (to)", h.Name, h.Device)
		}
	}
	return nil
}
