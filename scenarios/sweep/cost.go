package sweep

import (
	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/traffic"
)

// What things cost on the model, in seconds of a processor, with a few hosts at half load; see
// crowding. It is for putting the longest points first, and for a first guess of how long a
// sweep takes; what points took corrects it.
const (
	setUpCost   = 0.05
	packetCost  = 0.25e-6 // of a packet and hop
	messageCost = 8e-6    // with its records and its reply
	sampleCost  = 30e-9   // of a port's queue or a host's gauges
)

// crowding is how much more packets and messages cost where there are many hosts, whose state a
// processor's cache does not hold, and at high load, where more of them wait at once. load is
// that of hosts.
func crowding(hosts int, load float64) float64 {
	const many = 144
	load = min(load, 1)
	return (1 + float64(min(hosts, many))/many) * (0.5 + 1.5*load*load)
}

// Cost is about how long an experiment takes on the model, in seconds of a processor. It
// fails where the fabric or the traffic cannot be.
func Cost(x *emu.Experiment) (float64, error) {
	f, err := topo.New(x.Topology)
	if err != nil {
		return 0, err
	}
	sum := setUpCost
	if len(x.Streams) > 0 {
		offered, err := traffic.OfferedLoad(f, x.Streams)
		if err != nil {
			return 0, err
		}
		_, to := x.Window()
		load := 0.0
		for i := range offered {
			load += float64(offered[i].Rate) / (float64(f.Spec.HostRate) * float64(len(f.Hosts)))
		}
		hops := 2.0
		if f.Spec.Leaves > 1 {
			hops = 4
		}
		crowding := crowding(len(f.Hosts), load)
		for i := range offered {
			bytes := float64(offered[i].Rate) / 8 * to.Seconds()
			if size := offered[i].MeanSize; size > 0 {
				sum += bytes / size * messageCost * crowding
			}
			sum += bytes / float64(f.Spec.MTU-100) * 1.5 * hops * packetCost * crowding // half as many carry no data
		}
	}
	for _, sampled := range []struct {
		every float64
		n     int
	}{{x.QueueEvery.Seconds(), len(f.Ports)}, {x.GaugeEvery.Seconds(), 8 * len(f.Hosts)}} {
		if sampled.every > 0 {
			sum += x.End().Seconds() / sampled.every * float64(sampled.n) * sampleCost
		}
	}
	return sum, nil
}
