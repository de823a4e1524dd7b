package host_test

import (
	"fmt"
	"io"
	"log"

	"sirdbed/baselines/aimd"
	"sirdbed/sirdnode/host"
	"sirdbed/sirdnode/record"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Two hosts, driven as an engine does it, over a network that delivers every
// packet after 5 us.
func ExampleHost() {
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: 100 * units.Gbps, HostDelay: units.Microsecond})
	if err != nil {
		log.Fatal(err)
	}
	hosts := make([]*host.Host, 2)
	for i := range hosts {
		cfg := host.Config{Self: topo.HostID(i), Fabric: f, Protocol: aimd.Protocol, To: units.Second}
		hosts[i], err = host.New(cfg, record.NewWriter(io.Discard))
		if err != nil {
			log.Fatal(err)
		}
	}
	type flight struct {
		at  units.Time
		dst topo.HostID
		p   transport.Packet
	}
	var wire []flight
	hosts[0].Offer(0, 1, 10*units.Kilobyte, 0)
	for now := units.Time(0); !hosts[0].Done(); now += 10 {
		for len(wire) > 0 && wire[0].at <= now {
			hosts[wire[0].dst].Receive(now, &wire[0].p)
			wire = wire[1:]
		}
		for self, h := range hosts {
			h.Advance(now)
			for p := (transport.Packet{}); h.Next(now, &p); p = (transport.Packet{}) {
				dst := p.Peer
				p.Peer = topo.HostID(self)
				p.Payload = host.Payload(p.Peer, dst, p.ID, p.Offset, p.PayloadLen)
				wire = append(wire, flight{now + 5*units.Microsecond, dst, p})
			}
		}
	}
	fmt.Println("sent:", hosts[0].Counts().Sent, "packets, acknowledged:", hosts[0].Counts().Acked, "message")
	fmt.Println("received:", hosts[1].Counts().Payload, "bytes, wrong:", hosts[1].Counts().Mismatches)
	// Output:
	// sent: 7 packets, acknowledged: 1 message
	// received: 10000 bytes, wrong: 0
}
