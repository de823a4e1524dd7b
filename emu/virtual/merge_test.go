//go:build linux

package virtual

import (
	"reflect"
	"slices"
	"testing"

	"sirdbed/emu"
	"sirdbed/emu/virtual/guest"
)

// twoGuests is a run of two racks by as many guests, without processors of their own.
func twoGuests(t *testing.T) *several {
	t.Helper()
	f := racks(t, 2, 1, 500)
	guests, err := split(f, 2)
	if err != nil {
		t.Fatal(err)
	}
	return &several{topology: f, guests: guests, parts: make([]*partRun, 2), claims: &guest.Claims{}}
}

// A port's counters are those of the guest that has its node, but for what its wire has lost,
// which whoever has the other end counts. Hosts are in the topology's order.
func TestFactsOfGuestsAreJoined(t *testing.T) {
	s := twoGuests(t)
	all := []*emu.Facts{{}, {}}
	for g, f := range all {
		for i := range s.topology.Ports {
			port := emu.PortFacts{Name: s.topology.Ports[i].Name, Packets: -1, Lost: int64(1 + g)}
			if s.guests[s.topology.Ports[i].Node] == g {
				port.Packets = int64(100 + i)
			}
			f.Ports = append(f.Ports, port)
		}
		for _, h := range slices.Backward(s.topology.Hosts) {
			if s.guests[h] == g {
				f.Hosts = append(f.Hosts, emu.HostFacts{Name: s.topology.HostName(h)})
			}
		}
	}
	sum := s.joinFacts(all)
	for i, p := range sum.Ports {
		if p.Packets != int64(100+i) || p.Lost != 3 {
			t.Errorf("%s has %d packets and has lost %d, want %d and 3", p.Name, p.Packets, p.Lost, 100+i)
		}
	}
	var names, want []string
	for _, h := range sum.Hosts {
		names = append(names, h.Name)
	}
	for _, h := range s.topology.Hosts {
		want = append(want, s.topology.HostName(h))
	}
	if !slices.Equal(names, want) {
		t.Errorf("hosts are %v, want %v", names, want)
	}
}

// The failure of a run is what happened first to a guest, not what others made of that.
func TestFailureOfGuestsIsTheCause(t *testing.T) {
	for _, c := range []struct{ first, second, want string }{
		{"", "", ""},
		{"a host died", "", "a host died"},
		{"", "a host died", "a host died"},
		{errLeft.Error(), "a host died", "a host died"},
		{"a host died", errLeft.Error(), "a host died"},
	} {
		sum := twoGuests(t).joinFacts([]*emu.Facts{{Failure: c.first}, {Failure: c.second}})
		if sum.Failure != c.want {
			t.Errorf("%q and %q: got %q, want %q", c.first, c.second, sum.Failure, c.want)
		}
	}
}

// Every fact of a run by several guests is joined in joinFacts, or is here, with the reason
// why the first guest's will do.
func TestEveryFactIsJoined(t *testing.T) {
	const (
		same    = "the same in all guests"
		refused = "of no run by several guests"
		filled  = "filled in outside the guests"
	)
	firsts := map[string]string{
		"Engine": same, "Dilation": same, "Features": same, "PortsAt": same, "GaugeEvery": same, "QueueEvery": same,
		"Scheduling": same, "UndelayedPrograms": same,
		"RealTime": refused, "Loop": refused, "Apps": refused, "KernelPackets": refused, "Cables": refused,
		"Started": filled, "Wall": filled, "Startup": filled, "CPUs": filled, "Steal": filled, "Live": filled,
	}
	joined := []string{"Kernel", "Reached", "Failure", "Hosts", "Ports", "Lateness", "ThreadCPU", "SoftnetDrops",
		"CaptureDrops", "LinkDrops", "SampleLateness", "FaultLateness", "FewMessages", "SampleStalls"}
	for field := range reflect.TypeFor[emu.Facts]().Fields() {
		if slices.Contains(joined, field.Name) == (firsts[field.Name] != "") {
			t.Errorf("%s: is it joined, or the first guest's, and why?", field.Name)
		}
	}
}
