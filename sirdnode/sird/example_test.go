package sird_test

import (
	"fmt"
	"log"

	"sirdbed/emu/model"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// SIRD's parameters are its defaults for a fabric, changed: where no message is
// sent without credit, no queue builds up at the receiver.
func ExampleProtocol() {
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 9, HostRate: 100 * units.Gbps, HostDelay: units.Microsecond})
	if err != nil {
		log.Fatal(err)
	}
	for _, unscheduled := range []sird.Multiple{1, 0} {
		params := sird.Protocol.DefaultParams(f).(*sird.Params)
		params.UnschT = unscheduled
		cfg := model.Config{Fabric: f, Protocol: sird.Protocol, Params: params, Seed: 1}
		for src := topo.HostID(1); src < 9; src++ {
			cfg.Sends = append(cfg.Sends, model.Send{Src: src, Dst: 0, Size: 50 * units.Kilobyte})
		}
		sim, err := model.New(cfg)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("done:", sim.RunUntilDone(units.Millisecond), "longest queue:", sim.Queue(f.Downlink(0).ID).Max)
	}
	// Output:
	// done: true longest queue: 368.684KB
	// done: true longest queue: 1.514KB
}
