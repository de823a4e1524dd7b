package flow_test

import (
	"fmt"
	"log"

	"sirdbed/baselines/flow"
	"sirdbed/emu/model"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Fixed is a control law that controls nothing: a window of so many segments.
type Fixed float64

func (w Fixed) OnMessage(flow.Time)       {}
func (w Fixed) OnAck(flow.Time, flow.Ack) {}
func (w Fixed) OnLoss(flow.Time)          {}
func (w Fixed) OnTimeout(flow.Time, int)  {}
func (w Fixed) Window() float64           { return float64(w) }
func (w Fixed) Pacing() flow.Time         { return 0 }

// A protocol of one's own: all but its control law is here.
func ExampleTransport() {
	protocol := transport.Protocol{
		Name:          "fixed",
		Wire:          wire.Protocol{Name: "FIXED", Port: 47099, HeaderLen: flow.HeaderLen, Header: &flow.Headers},
		Framing:       flow.Framing,
		DefaultParams: func(*topo.Fabric) any { return nil },
		Network:       func(*topo.Fabric, any) transport.Network { return transport.Network{Priorities: 1} },
		New: func(env transport.Env, _ any) (transport.Transport, error) {
			return flow.New(env, flow.Config{
				Connections: 1, MinRTO: units.Millisecond, MaxTimeouts: 5, SegmentsPerAck: 1,
				Controller: func(transport.HostID) flow.Controller { return Fixed(10) },
			})
		},
	}
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 3, HostRate: 100 * units.Gbps, HostDelay: units.Microsecond})
	if err != nil {
		log.Fatal(err)
	}
	sim, err := model.New(model.Config{Fabric: f, Protocol: protocol, Sends: []model.Send{
		{Src: 0, Dst: 2, Size: units.Megabyte}, {Src: 1, Dst: 2, Size: units.Megabyte},
	}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("done:", sim.RunUntilDone(units.Second), "at", sim.Now())
	fmt.Println("longest queue:", sim.Queue(f.Downlink(2).ID).Max)
	// Output:
	// done: true at 298.852us
	// longest queue: 15.14KB
}
