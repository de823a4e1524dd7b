package xpass_test

import (
	"testing"

	"sirdbed/baselines/xpass"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Credit and data of a connection cross the same spine, so that credits are
// limited by the ports whose links the data will cross; connections are spread
// over spines (ExpressPass paper, section 3.1, symmetric routing; README,
// Paths).
func TestCreditAndDataTakeTheSameSpine(t *testing.T) {
	s := modeltest.Small
	s.Spines = 4
	f := modeltest.Fabric(t, s)
	type flow struct {
		sender topo.HostID
		conn   uint16
	}
	over := map[flow]map[topo.NodeID]int{}
	kinds := map[string]int{}
	var sends []model.Send
	for range 24 {
		sends = append(sends, model.Send{Src: 0, Dst: 2, Size: 30_000}, model.Send{Src: 2, Dst: 0, Size: 30_000})
	}
	sim := newSim(t, model.Config{Fabric: f, Sends: sends, Bytes: true, OnPacket: func(e model.PacketEvent) {
		if e.Kind != model.Transmitted || !e.Port.Core || f.Nodes[e.Port.Node].Kind != topo.Spine {
			return
		}
		h := xpass.Parse(e.Packet.Header())
		kinds[h.Kind]++
		sender := e.Src
		switch h.Kind {
		case "CREDIT", "ACK", "BUSY", "NACK":
			sender = e.Dst
		}
		k := flow{sender, h.Conn}
		if over[k] == nil {
			over[k] = map[topo.NodeID]int{}
		}
		over[k][e.Port.Node]++
	}})
	modeltest.AllDone(t, f, sim, units.Second)
	used := map[topo.NodeID]int{}
	for k, spines := range over {
		if len(spines) != 1 {
			t.Errorf("connection %v: packets over %v", k, spines)
		}
		for n := range spines {
			used[n]++
		}
	}
	if len(over) != 48 || len(used) != 4 || kinds["CREDIT"] < 1000 || kinds["DATA"] < 1000 {
		t.Errorf("%d connections over %v, packets %v", len(over), used, kinds)
	}
	for n, connections := range used {
		if connections < 4 || connections > 24 {
			t.Errorf("spine %d has %d of 48 connections", n, connections)
		}
	}
}

// With symmetric paths the core's data queues stay short too: credits over an
// oversubscribed core are limited there.
func TestCoreQueuesStayShort(t *testing.T) {
	s := topo.Spec{Leaves: 2, HostsPerLeaf: 4, Spines: 2, HostRate: 100 * units.Gbps, CoreRate: 100 * units.Gbps,
		HostDelay: 1250, CoreDelay: 500}
	f := modeltest.Fabric(t, s)
	var sends []model.Send
	for i := range topo.HostID(4) {
		for range 4 {
			sends = append(sends, model.Send{Src: i, Dst: 4 + i, Size: 1 << 28})
		}
	}
	sim := newSim(t, model.Config{Fabric: f, Sends: sends})
	sim.Run(4 * units.Millisecond)
	for _, p := range f.Ports {
		if q := sim.Queue(p.ID); q.Max > 20*1514 {
			t.Errorf("%s: %v waited", p.Name, q.Max)
		}
	}
	if sim.Totals().Payload*8/4/1e6 < 150 {
		t.Errorf("%d bytes over a core of 200 Gbps in 4 ms", sim.Totals().Payload)
	}
}
