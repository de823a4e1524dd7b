package traffic

import (
	"slices"
	"testing"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Whoever a host sends a message or a reply to, and nobody else, is its peer.
func TestPeers(t *testing.T) {
	f := fabric(t, rackSpec)
	one := Stream{Name: "one", Pattern: PatternFixed, From: []string{"h1-1", "h1-2"}, To: []string{"h1-8"}, Size: 8,
		Interval: us}
	ask := one
	ask.Reply = 8
	incast := Stream{Name: "in", Pattern: PatternFixed, To: []string{"h1-3"}, Size: 8, Interval: us}
	list := Stream{Name: "list", Pattern: PatternList, Messages: []ListEntry{
		{Src: "h1-1", Dst: "h1-4", Size: 8}, {Src: "h1-5", Dst: "h1-1", Size: 8, Reply: 8},
		{Src: "h1-6", Dst: "h1-1", Size: 8},
	}}
	all := Stream{Name: "all", Pattern: PatternPoisson, Size: 1000, Rate: units.Gbps}
	for _, c := range []struct {
		name    string
		streams []Stream
		self    topo.HostID
		want    []topo.HostID
	}{
		{"sender", []Stream{one}, 0, []topo.HostID{7}},
		{"receiver", []Stream{one}, 7, nil},
		{"receiver that answers", []Stream{ask}, 7, []topo.HostID{0, 1}},
		{"bystander", []Stream{ask}, 4, nil},
		{"everybody to one", []Stream{incast}, 4, []topo.HostID{2}},
		{"the one", []Stream{incast}, 2, nil},
		{"list", []Stream{list}, 0, []topo.HostID{3, 4}},
		{"everybody to everybody", []Stream{all}, 3, []topo.HostID{0, 1, 2, 4, 5, 6, 7}},
		{"several", []Stream{one, incast}, 0, []topo.HostID{2, 7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Peers(f, c.streams, c.self)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%v, %v; want %v", got, err, c.want)
			}
		})
	}
	bad := one
	bad.Size = 0
	if _, err := Peers(f, []Stream{bad}, 0); err == nil {
		t.Error("no error of a stream without size")
	}
}
