//go:build linux

package real

import (
	"time"

	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Rules of a run in real time, at dilation 1. A full packet at 1 Gbps lasts 12 us, and
// wake-ups are later than that: what is then kept is mean rates, and latencies as far as
// the machine's timers resolve them.

// realTime reports whether the run's clock is the machine's own.
func (r *run) realTime() bool { return r.facts.Dilation == 1 && !r.exact() }

// catchUpPackets is how many full packets' time a host that woke up late makes
// good. What it sends at once, its port spaces.
const catchUpPackets = 8

// catchUp is how long a host that woke up late makes good: in real time for as long as
// its port does.
func (r *run) catchUp(h topo.HostID) units.Time {
	packets := catchUpPackets * r.topology.PacketTime(h)
	if r.realTime() {
		return max(packets, units.Time(r.burstTime))
	}
	return packets
}

// grain is what the machine's timers resolve, of nominal time: what is due sooner than
// nine of ten wake-ups would come happens at once.
func (r *run) grain() units.Time {
	if r.realTime() {
		return units.Time(r.machine.Crowd.P90)
	}
	return 0
}

// wakeShare is the share of all processors that wake-ups of hosts take at most, in real
// time.
const wakeShare = 0.5

// apart is how far apart hosts keep their wake-ups: of a packet at 1 Gbps each takes
// longer than the packet. Where there are processors to spare they need not.
func (r *run) apart() time.Duration {
	if !r.realTime() {
		return 0
	}
	hosts := time.Duration(len(r.topology.Hosts))
	return time.Duration(float64(hosts*r.machine.WakeCost) / (wakeShare * float64(r.machine.CPUs)))
}

// realTimeFacts states what the run rests on, nil unless it is in real time.
func (r *run) realTimeFacts() *emu.RealTime {
	if !r.realTime() {
		return nil
	}
	crowd := &r.machine.Crowd
	return &emu.RealTime{
		Median: units.Time(crowd.Median), P90: units.Time(crowd.P90), P99: units.Time(crowd.P99),
		P999: units.Time(crowd.P999), MadeGood: units.Time(r.burstTime), Grain: r.grain(), Apart: units.Time(r.apart()),
	}
}

// stall is from when on a late wake-up is a stall: when it lets more than one packet be
// late, or in real time more than is made good.
func (r *run) stall(h topo.HostID) units.Time {
	if r.realTime() {
		return r.catchUp(h)
	}
	return r.topology.PacketTime(h)
}
