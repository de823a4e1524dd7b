package dctcp_test

import (
	"math/rand/v2"
	"testing"

	"sirdbed/baselines/dctcp"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// subject is DCTCP, for the requirements on every protocol.
var subject = modeltest.Subject{
	Protocol: dctcp.Protocol,
	Params: func(f *topo.Fabric, r *rand.Rand) any {
		return params(f, func(p *dctcp.Params) {
			p.Connections = []int{1, 3, 40}[r.IntN(3)]
			p.UplinkFIFO = r.IntN(2) == 0
			p.SegmentsPerAck = 1 + r.IntN(2)
		})
	},
}

// Exactly once, with verified bytes, under 5 % each of loss, duplication,
// reordering and corruption.
func TestExactlyOnceUnderFaults(t *testing.T) { modeltest.ExactlyOnceUnderFaults(t, subject) }

// No packet allocates anything once queues and pools have grown.
func TestNoAllocationPerPacket(t *testing.T) { modeltest.NoAllocationPerPacket(t, subject) }

// Whichever end is dead, the message fails, and neither end keeps any state of
// it.
func TestDeadPeerFailsTheMessage(t *testing.T) { modeltest.DeadPeerFailsTheMessage(t, subject) }

// Eight hosts, all to all, web search at half load: everything arrives, and in
// the lossless network of the evaluation hardly anything is sent twice.
func TestAllToAllIsDelivered(t *testing.T) {
	f, sim := modeltest.HalfLoad(t, subject, "wkc", 5*units.Millisecond)
	again, timeouts := modeltest.Counted(f, sim, "retransmissions"), modeltest.Counted(f, sim, "timeouts")
	total := sim.Totals()
	t.Logf("%d messages, %d packets, %d retransmissions, %d timeouts, %d marks", total.Delivered, total.Sent, again,
		timeouts, total.PortStats.Marks)
	if again > total.Sent/500 || total.PortStats.Marks == 0 {
		t.Errorf("%+v; %d retransmissions", total, again)
	}
}
