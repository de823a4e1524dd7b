package transport

import (
	"testing"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

type failures struct {
	Sink
	reasons []string
}

func (k *failures) Failed(_ Time, _ Message, reason string) { k.reasons = append(k.reasons, reason) }

func TestEnvRefusesStrangePeersAndSizes(t *testing.T) {
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 3, HostRate: units.Gbps})
	if err != nil {
		t.Fatal(err)
	}
	k := &failures{}
	e := Env{Self: 1, Fabric: f, Sink: k}
	for peer, want := range map[HostID]bool{-1: false, 0: true, 1: false, 2: true, 3: false} {
		if e.Knows(peer) != want {
			t.Errorf("Knows(%d) = %v, want %v", peer, !want, want)
		}
	}
	for size, want := range map[Bytes]bool{-1: false, 0: false, 1: true, 1000: true, 1001: false} {
		k.reasons = nil
		if e.Fits(0, Message{Size: size}, 1000) != want || (len(k.reasons) == 0) != want {
			t.Errorf("Fits(%d bytes) = %v, want %v; failed with %q", size, !want, want, k.reasons)
		}
	}
}
