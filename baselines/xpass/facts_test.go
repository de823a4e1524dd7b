package xpass_test

import (
	"testing"

	"sirdbed/baselines/xpass"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/topo"
)

// mss is what a full packet carries with an MTU of 1500.
const mss = 1438

// rack is hosts under one switch, at 100 Gbps.
func rack(t testing.TB, hosts int) *topo.Fabric { return modeltest.Rack(t, hosts, 1250) }

func params(f *topo.Fabric, change func(*xpass.Params)) *xpass.Params {
	return modeltest.Params(xpass.Protocol, f, change)
}

func newSim(t testing.TB, c model.Config) *model.Sim { return modeltest.Sim(t, xpass.Protocol, c) }

// at returns the protocol at a host.
func at(sim *model.Sim, h topo.HostID) *xpass.XPass { return sim.Host(h).Transport().(*xpass.XPass) }
