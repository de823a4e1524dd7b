package model_test

import (
	"fmt"
	"log"

	"sirdbed/emu/model"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Three hosts send to a fourth at once: how long each message takes, and what
// waits at the receiver's port.
func ExampleSim() {
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 4, HostRate: 100 * units.Gbps, HostDelay: units.Microsecond})
	if err != nil {
		log.Fatal(err)
	}
	cfg := model.Config{Fabric: f, Protocol: sird.Protocol, Seed: 1}
	for src := range topo.HostID(3) {
		cfg.Sends = append(cfg.Sends, model.Send{Src: src, Dst: 3, Size: units.Megabyte})
	}
	sim, err := model.New(cfg)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("done:", sim.RunUntilDone(units.Millisecond))
	for _, m := range sim.Messages() {
		fmt.Println(f.HostName(m.Src), m.Size, "in", m.Latency())
	}
	fmt.Println("longest queue:", sim.Queue(f.Downlink(3).ID).Max)
	// Output:
	// done: true
	// h1-1 1MB in 91.482us
	// h1-2 1MB in 176.812us
	// h1-3 1MB in 262.142us
	// longest queue: 1.514KB
}
