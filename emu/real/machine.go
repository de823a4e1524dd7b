//go:build linux

package real

import (
	"time"

	"sirdbed/baselines/all"
	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// longestBurst is the longest that a port makes good in real time. What a machine is
// later by is no lateness of timers any more, and the rate that is lost shows.
const longestBurst = 2 * time.Millisecond

// timerMargin is how much later than measured a port's timer may be under load
// without the port losing part of its rate.
const timerMargin = 10

// BurstTime is what each port may make good after its timer fired late: with a
// margin as much as this machine's timers are late, but at most a full packet's
// time, so that after an idle time a port lets at most two packets out unspaced. In
// real time packets are short against what timers are late by, and rates go first: a
// port keeps its mean rate for wake-ups as late as their 99.9th percentile.
func (m *Machine) BurstTime(f *topo.Fabric, dilation units.Dilation) time.Duration {
	packet := units.Never
	for i := range f.Ports {
		packet = min(packet, f.Ports[i].Rate.TimeFor(f.FullFrame()))
	}
	if dilation == 1 {
		return min(max(m.Crowd.P999, m.Timer.P999), longestBurst)
	}
	return min(timerMargin*m.Timer.P90, time.Duration(dilation.ToKernel(packet)))
}

// What the automatic dilation aims at.
const (
	// A full packet lasts this many times the 99th percentile of the crowd's lateness,
	// which the verdict wants to be less than a packet in the run; but no longer than
	// enough by the wall clock: beyond that slowness buys nothing.
	packetsLate = 1.4
	enough      = 400 * time.Microsecond
	// One packet's way from host to host costs this much processor time: two
	// host loops woken up, and the kernel's forwarding for each hop.
	packetCost = 12 * time.Microsecond
	hopCost    = 1 * time.Microsecond
	// This share of all processors is used at most.
	busyShare = 0.5
	// D is rounded up to a multiple of this.
	dilationStep = 10
)

// Dilation chooses how far to slow an experiment down: until a full packet on
// the fastest host link lasts several times as long as wake-ups are late, and
// until the machine can carry the packets offered.
func (m *Machine) Dilation(f *topo.Fabric, x *emu.Experiment) units.Dilation {
	byLateness := min(packetsLate*float64(m.Crowd.P99), float64(enough)) / float64(f.LeastPacketTime())
	cost := packetCost.Seconds() + float64(Hops(f))*hopCost.Seconds()
	byCapacity := packetRate(f, x) * cost / (busyShare * float64(m.CPUs))
	d := units.Dilation(max(byLateness, byCapacity, 1))
	return max(1, (d+dilationStep-1)/dilationStep*dilationStep)
}

// Hops is the number of links on the fabric's longest path.
func Hops(f *topo.Fabric) int {
	return len(f.Path(f.Hosts[0], f.Hosts[len(f.Hosts)-1], 0))
}

// packetRate estimates the packets a second, data and control, that the
// experiment puts on the network, in nominal time.
func packetRate(f *topo.Fabric, x *emu.Experiment) float64 {
	mss := float64(f.Spec.MTU)
	if p, err := all.Find(x.Protocol); err == nil {
		mss = float64(p.Framing(f.Spec.MTU).MSS)
	}
	line := float64(f.Spec.HostRate) / 8 / mss * float64(len(f.Hosts))
	loads, err := traffic.OfferedLoad(f, x.Streams)
	if err != nil {
		return 2 * line
	}
	var rate float64
	for _, l := range loads {
		switch {
		case l.Rate == 0: // closed loop, or a list: as fast as it goes
			rate += float64(f.Spec.HostRate) / 8 / mss * float64(max(1, l.Senders))
		default:
			rate += float64(l.Rate) / 8 / min(mss, max(1, l.MeanSize))
		}
	}
	// A packet of control for each of data, at most what links carry.
	return 2 * min(rate, line)
}
