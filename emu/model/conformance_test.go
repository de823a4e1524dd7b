package model

import (
	"testing"

	"sirdbed/emu/internal/conformance"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// discard sends nothing, and discards what arrives.
type discard struct{}

func (discard) Send(transport.Time, transport.Message)      {}
func (discard) Receive(transport.Time, *transport.Packet)   {}
func (discard) Next(transport.Time, *transport.Packet) bool { return false }
func (discard) Wake() transport.Time                        { return units.Never }

var discardProtocol = transport.Protocol{
	Name: "discard", Wire: fakeProtocol.Wire, DefaultParams: fakeProtocol.DefaultParams,
	New: func(transport.Env, any) (transport.Transport, error) { return discard{}, nil },
}

// The model's ports meet the cases that Linux's do, to the packet
// and the ps.
func TestConformance(t *testing.T) {
	for _, c := range conformance.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			// The port is a leaf's towards a host, which marks.
			f := paperFabric(t, func(s *topo.Spec) { s.Leaves, s.Spines, s.HostsPerLeaf, s.HostRate = 1, 0, 2, c.Rate })
			down := f.Downlink(1)
			var got conformance.Result
			burst, first := false, int64(0)
			s := newSim(t, Config{
				Fabric: f, Protocol: discardProtocol, QueueLimit: c.Limit,
				Network: &transport.Network{
					Priorities: c.Priorities, MarkEdge: c.Mark, CreditClass: c.Share > 0, CreditShare: c.Share,
					CreditQueue: c.Credits,
				},
				OnPacket: func(e PacketEvent) {
					if !burst || e.Kind != Transmitted {
						return
					}
					if len(got.Departures) == 0 {
						first = e.PS
					}
					got.Departures = append(got.Departures, conformance.Departure{
						Frame: conformance.Frame{ID: uint32(e.Packet.ID), Credit: e.Packet.Credit}, Marked: e.Packet.CE,
						At: e.PS - first,
					})
				},
			})
			send := func(list []conformance.Frame, spacing units.Time) {
				begin := s.Now() + 1
				for i, frame := range list {
					s.Run(begin + units.Time(i)*spacing)
					q := s.pool.get()
					q.Packet = transport.Packet{
						Peer: 1, ID: transport.MessageID(frame.ID), PayloadLen: frame.Length - wire.HeaderOffset,
						Priority: frame.Precedence, ECT: frame.ECT, Credit: frame.Credit,
					}
					q.stamp(0)
					s.ports[down.ID].enqueue(q, s.now)
				}
				s.Drain()
			}
			send(c.Prelude, 0)
			before := s.Port(down.ID)
			burst = true
			send(c.Burst, c.Spacing)
			after := s.Port(down.ID)
			got.Drops, got.CreditDrops = int(after.Drops-before.Drops), int(after.CreditDrops-before.CreditDrops)
			if err := c.Check(got, conformance.Allowance{Gap: 1}); err != nil {
				t.Error(err)
			}
			marks := 0
			for _, d := range got.Departures {
				if d.Marked {
					marks++
				}
			}
			if n := int(after.Marks - before.Marks); n != marks {
				t.Errorf("the port counted %d marks, %d packets carry one", n, marks)
			}
		})
	}
}
