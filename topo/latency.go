package topo

import "sirdbed/topo/units"

// Ethernet's cost of a packet on the wire, counted by every rate in sirdbed.
const (
	// WireOverhead is what a link carries besides the IP packet: 14 bytes of
	// header, 4 of frame check sequence, 20 of preamble and gap.
	WireOverhead units.Bytes = 38
	// MinWire is the smallest packet on the wire: a 64-byte frame, preamble and
	// gap.
	MinWire units.Bytes = 84
)

// WireBytes returns what an IP packet of the given length occupies on a link.
func WireBytes(ip units.Bytes) units.Bytes { return max(MinWire, ip+WireOverhead) }

// FullFrame returns what a packet of MTU size occupies on a link.
func (f *Fabric) FullFrame() units.Bytes { return WireBytes(f.Spec.MTU) }

// PacketTime returns how long a full frame takes on a host's uplink.
func (f *Fabric) PacketTime(h HostID) units.Time { return f.Uplink(h).Rate.TimeFor(f.FullFrame()) }

// LeastPacketTime returns the time of a full frame on the fastest uplink of a host, at
// least 1 ns.
func (f *Fabric) LeastPacketTime() units.Time {
	least := units.Never
	for _, h := range f.Hosts {
		least = min(least, f.PacketTime(h))
	}
	return max(1, least)
}

// Path returns the egress ports from src to dst over the given spine, counted
// from 1. Within a rack the spine does not matter; across racks 0 means spine 1.
// src and dst must differ.
func (f *Fabric) Path(src, dst HostID, spine int) []PortID {
	from, to := f.LeafOf(src), f.LeafOf(dst)
	if from == to {
		return []PortID{f.Uplink(src).ID, f.Downlink(dst).ID}
	}
	port := f.Spec.HostsPerLeaf + max(spine, 1) - 1 // of a leaf towards the spine
	up, down := f.Nodes[from].Ports[port], f.Ports[f.Nodes[to].Ports[port]].Reverse
	return []PortID{f.Uplink(src).ID, up, down, f.Downlink(dst).ID}
}

// Propagation returns the sum of the delays along a path.
func (f *Fabric) Propagation(path []PortID) (sum units.Time) {
	for _, p := range path {
		sum += f.Ports[p].Delay
	}
	return sum
}

// Bottleneck returns the lowest rate along a path.
func (f *Fabric) Bottleneck(path []PortID) units.BitsPerSecond {
	low := f.Ports[path[0]].Rate
	for _, p := range path[1:] {
		low = min(low, f.Ports[p].Rate)
	}
	return low
}

// Transit returns how long one packet of the given wire length takes over an
// idle path: every hop's serialization (store and forward) and propagation.
func (f *Fabric) Transit(path []PortID, wire units.Bytes) units.Time {
	var ps int64
	for _, p := range path {
		ps += f.Ports[p].Rate.Picoseconds(wire)
	}
	return f.Propagation(path) + units.Time((ps+500)/1000)
}

// Framing is how a protocol cuts messages into packets.
type Framing struct {
	MSS      units.Bytes // largest payload of a packet, positive
	Overhead units.Bytes // IP bytes of a packet besides payload
}

// Wire returns what a packet with the given payload occupies on a link.
func (fr Framing) Wire(payload units.Bytes) units.Bytes { return WireBytes(payload + fr.Overhead) }

// WireOf returns what the packets of n bytes of a message occupy on a link, cut
// at full packets.
func (fr Framing) WireOf(n units.Bytes) units.Bytes {
	wire := n / fr.MSS * fr.Wire(fr.MSS)
	if rest := n % fr.MSS; rest > 0 {
		wire += fr.Wire(rest)
	}
	return wire
}

// split returns how many full packets a message has, and the payload of the
// shorter one after them, 0 if there is none.
func (fr Framing) split(size units.Bytes) (full int64, last units.Bytes) {
	return int64(size / fr.MSS), size % fr.MSS
}

// UnloadedPaper is the latency of a message by the rule of the released simulator's
// scripts (scenarios/README, Slowdown): its payload at the bottleneck's rate, and
// propagation. It has neither headers nor store-and-forward. It is that of the
// fastest path from src to dst.
func (f *Fabric) UnloadedPaper(src, dst HostID, size units.Bytes) units.Time {
	return f.fastestPath(src, dst, func(path []PortID) units.Time {
		return f.Bottleneck(path).TimeFor(size) + f.Propagation(path)
	})
}

// UnloadedExact is the latency of a message whose packets leave back to back over
// an idle fabric, all over one path, the fastest: headers and every hop's
// store-and-forward included.
func (f *Fabric) UnloadedExact(src, dst HostID, size units.Bytes, fr Framing) units.Time {
	return f.fastestPath(src, dst, func(path []PortID) units.Time { return f.exactOver(path, size, fr) })
}

// exactOver is UnloadedExact over the given path.
func (f *Fabric) exactOver(path []PortID, size units.Bytes, fr Framing) units.Time {
	full, rest := fr.split(size) // packets with MSS bytes of payload, and what comes last
	if rest == 0 && full > 0 {
		full, rest = full-1, fr.MSS
	}
	last := fr.Wire(rest)
	// sent is when hop p is done with the last full packet, arrived when the
	// last packet, full or not, is ready to start at p; both in ps.
	var sent, arrived, sum, slowest int64
	for _, p := range path {
		tx := f.Ports[p].Rate.Picoseconds(fr.Wire(fr.MSS))
		sum, slowest = sum+tx, max(slowest, tx)
		if full > 0 {
			sent = sum + (full-1)*slowest
		}
		arrived = max(arrived, sent) + f.Ports[p].Rate.Picoseconds(last)
	}
	return f.Propagation(path) + units.Time((arrived+500)/1000)
}
