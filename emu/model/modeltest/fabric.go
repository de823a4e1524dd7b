// Package modeltest is what tests of protocols have in common: small fabrics,
// simulations of them, and the requirements that every protocol meets, one
// function each.
//
// A new protocol has its requirements tested by
//
//	var subject = modeltest.Subject{Protocol: aimd.Protocol}
//
//	func TestExactlyOnceUnderFaults(t *testing.T)    { modeltest.ExactlyOnceUnderFaults(t, subject) }
//	func TestDeadPeerFailsTheMessage(t *testing.T)   { modeltest.DeadPeerFailsTheMessage(t, subject) }
//	func TestNoAllocationPerPacket(t *testing.T)     { modeltest.NoAllocationPerPacket(t, subject) }
//	func TestHalfLoadArrives(t *testing.T)           { modeltest.HalfLoad(t, subject, "wkc", 5*units.Millisecond) }
package modeltest

import (
	"testing"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Small is a fabric of two racks that is quick to simulate.
var Small = topo.Spec{Leaves: 2, HostsPerLeaf: 2, Spines: 2, HostRate: 100 * units.Gbps, CoreRate: 100 * units.Gbps,
	HostDelay: 1250, CoreDelay: 500}

// Eight is two racks of four hosts under a core that is no bottleneck.
var Eight = topo.Spec{Leaves: 2, HostsPerLeaf: 4, Spines: 2, HostRate: 100 * units.Gbps, CoreRate: 400 * units.Gbps,
	HostDelay: 1250, CoreDelay: 500}

// Paper is the fabric of the paper's evaluation (paper, section 6.2;
// scenarios/README.md, section Topology).
var Paper = topo.Spec{Leaves: 9, HostsPerLeaf: 16, Spines: 4, HostRate: 100 * units.Gbps, CoreRate: 400 * units.Gbps,
	HostDelay: 1250, CoreDelay: 500}

// Fabric makes a fabric.
func Fabric(t testing.TB, s topo.Spec) *topo.Fabric {
	t.Helper()
	f, err := topo.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Rack is hosts under one switch, at 100 Gbps, with links of the given delay.
func Rack(t testing.TB, hosts int, delay units.Time) *topo.Fabric {
	t.Helper()
	return Fabric(t, topo.Spec{Leaves: 1, HostsPerLeaf: hosts, HostRate: 100 * units.Gbps, HostDelay: delay})
}
