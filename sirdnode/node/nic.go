//go:build linux

package node

import (
	"errors"
	"fmt"

	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/host"
	"sirdbed/sirdnode/ring"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// NICCounts are the totals of a host's raw socket.
type NICCounts struct {
	Sent     int64 `json:"sent"`     // packets handed to the kernel
	Received int64 `json:"received"` // packets of the run's protocol, before the fault shim
	Corrupt  int64 `json:"corrupt"`  // refused by their checksum
	Flipped  int64 `json:"flipped"`  // that the fault shim flipped a bit of, copies included
	Foreign  int64 `json:"foreign"`  // of another protocol, or not for this host
	Drops    int64 `json:"drops"`    // that the receive ring had no room for
	Full     int64 `json:"full"`     // times that the kernel could not take more
	Cut      int64 `json:"cut"`      // of those sent, lost on the host's link by the timeline of faults
}

// A nic is a host's raw socket, its links' delay where they have none, and the
// fault shim.
type nic struct {
	fabric   *topo.Fabric
	reach    Reach
	protocol transport.Protocol
	self     topo.HostID
	socket   *ring.Socket
	clock    *clock.Clock
	realtime *clock.Realtime
	shim     *fault.Shim
	delayed  *fault.DelayLine // frames on their way, by arrival
	paths    [][]topo.PortID  // from each host, when links have no delay

	links   *links        // nil unless the timeline of faults has something for this host
	credits *creditSocket // nil when the ports have no credit class

	fill func(payload []byte, p *transport.Packet) // of what is sent

	room   int  // packets that may be pending: fewer when the port lets them wait
	atWait bool // what serve leaves to be sent may be sent by the call that waits,
	left   bool // and is

	out wire.Frame // what all frames sent have in common
	id  uint16
	in  wire.Frame
	rx  transport.Packet
	tx  transport.Packet

	counts NICCounts
}

// delayedFrames is room for what can be on its way to one host. The bandwidth-
// delay product is some 60 packets; unscheduled bursts of many senders may pile
// up behind a slow link, but in its port, not here.
const delayedFrames = 4096

// StallFrames is what may arrive while a stall of the machine keeps the process
// from running: some hundred ms at the dilations in use.
const StallFrames = 1024

func openNIC(
	f *topo.Fabric, reach Reach, protocol transport.Protocol, network transport.Network, cfg *Config,
) (*nic, error) {
	socket, err := ring.Open(ring.Config{
		Interface: cfg.Interface, Protocol: etherTypeIPv4, Port: protocol.Wire.Port, RxFrames: cfg.RxFrames,
		SendBuffer: 64 << 20,
	})
	if err != nil {
		return nil, err
	}
	frame := int(f.Spec.MTU) + wire.EthernetLen
	n := &nic{
		fabric: f, reach: reach, protocol: protocol, self: cfg.Self, socket: socket,
		room: maxPending, realtime: clock.NewRealtime(), delayed: fault.NewDelayLine(delayedFrames, frame),
	}
	n.fill = func(payload []byte, p *transport.Packet) {
		copy(payload, host.Payload(reach.Number(n.self), reach.Number(p.Peer), p.ID, p.Offset, len(payload)))
	}
	if network.CreditClass {
		if n.credits, err = openCredits(cfg.Interface, socket.Index()); err != nil {
			return nil, err
		}
	}
	if cfg.Faults.Enabled() {
		if n.shim, err = fault.New(cfg.Faults, fault.Seed(cfg.Seed, cfg.Self)); err != nil {
			return nil, err
		}
	}
	n.out.Port = protocol.Wire.Port
	reach.Own(&n.out)
	if cfg.DelayFrames {
		n.paths = make([][]topo.PortID, len(f.Hosts))
		for _, h := range f.Hosts {
			if h != cfg.Self {
				n.paths[h] = f.Path(h, cfg.Self, 0)
			}
		}
	}
	return n, nil
}

const etherTypeIPv4 = 0x0800

// take moves what the kernel has received to the frames on their way, and reports
// whether that was any.
func (n *nic) take(mono int64) (any bool) {
	n.realtime.Track(mono)
	for ; ; any = true {
		frame, at, ok := n.socket.Receive()
		if !ok {
			return any
		}
		n.takeOne(frame, at)
		n.socket.Release()
	}
}

func (n *nic) takeOne(frame []byte, realtime int64) {
	port, ok := wire.DestinationPort(frame)
	if !ok || port != n.protocol.Wire.Port {
		n.counts.Foreign++
		return
	}
	n.counts.Received++
	arrival := n.clock.ToNominal(n.realtime.ToMonotonic(realtime)) + n.transit(frame)
	verdict := n.shim.Next(len(frame))
	if verdict.Drop {
		return
	}
	fault.Flip(frame, verdict.FlipBit)
	if verdict.Duplicate {
		n.delay(arrival, frame, verdict.FlipBit >= 0)
	}
	n.delay(arrival+verdict.Delay, frame, verdict.FlipBit >= 0)
}

func (n *nic) delay(due units.Time, frame []byte, flipped bool) {
	switch {
	case !n.delayed.Put(due, frame):
		n.noRoom()
	case flipped:
		n.counts.Flipped++
	}
}

// transit is how long the packet would have been on its path's links, if those
// do not delay it themselves.
func (n *nic) transit(frame []byte) units.Time {
	if n.paths == nil {
		return 0
	}
	src, _, ok := n.fabric.HostOf([4]byte(frame[wire.EthernetLen+12:]))
	if !ok || src == n.self {
		return 0 // deliver finds what is wrong with it
	}
	return n.fabric.Transit(n.paths[src], topo.WireBytes(units.Bytes(len(frame)-wire.EthernetLen)))
}

// due returns when the next frame arrives.
func (n *nic) due() units.Time { return min(n.delayed.Due(), n.links.due()) }

// deliver takes the frame that has arrived by now, or will within grain, and checks
// it. It returns nil for one that is damaged or not for this host.
func (n *nic) deliver(now, grain units.Time) *transport.Packet {
	frame, at, ok := n.arrived(now + grain)
	if !ok {
		return nil
	}
	f := &n.in
	if err := f.Decode(frame, 1, n.protocol.Wire.HeaderLen); err != nil {
		n.counts.Corrupt++
		return nil
	}
	src, spine, ok := n.reach.From(f.SrcAddr, f.DstAddr)
	if !ok || len(f.Header) > transport.MaxHeader {
		n.counts.Foreign++
		return nil
	}
	p := &n.rx
	p.Peer, p.Spine, p.Entropy, p.Priority = src, spine, f.Entropy, f.Priority
	p.HeaderLen = copy(p.HeaderBytes[:], f.Header)
	p.Payload, p.PayloadLen = f.Payload, len(f.Payload)
	p.CE, p.ECT, p.Credit, p.Arrived = f.ECN == wire.CE, f.ECN != wire.NotECT, f.Credit, min(at, now)
	return p
}

// maxPending is how many packets may wait in the host's own port. They are beyond
// the reach of the transport's policy, so a NIC has as few as keep it busy.
// maxBatch is how many are handed over at once to a port that takes them all.
const (
	maxPending = 3
	maxBatch   = 32
)

// transmit queues what the host has and its NIC can take as of at, a time not
// after now. A port that has not caught up blocks the NIC from now on.
func (n *nic) transmit(at, now units.Time, h *host.Host) (sent int, err error) {
	for {
		if n.socket.Pending() >= n.room {
			if err := n.flush(now, h); err != nil {
				return sent, err
			}
		}
		buf := n.socket.Reserve()
		if buf == nil || n.socket.Pending() >= n.room {
			n.counts.Full++
			h.PauseNIC(now + n.packetTime()/2)
			return sent, nil
		}
		n.links.pace(at, h)
		if !h.Next(at, &n.tx) {
			return sent, nil
		}
		sent++
		credit := n.tx.Credit && n.credits != nil
		if credit {
			buf = n.credits.buf[:]
		}
		switch length := n.encode(buf, &n.tx); {
		case length == 0: // to nobody
		case n.links != nil && !n.leaves(at, buf[:length]):
		case credit:
			n.counts.Sent++
			if err := n.credits.send(length); err != nil {
				return sent, err
			}
		default:
			n.counts.Sent++
			n.socket.Commit(length)
		}
	}
}

// flush hands what is queued to the kernel. What that does not take now it is
// offered again.
func (n *nic) flush(now units.Time, h *host.Host) error {
	n.left = false
	err := n.socket.Flush()
	return n.flushed(n.socket.Pending(), err, now, h)
}

// flushed sees what a flush at now has left pending.
func (n *nic) flushed(pending int, err error, now units.Time, h *host.Host) error {
	n.room = maxPending
	if pending == 0 {
		n.room = maxBatch
	}
	if errors.Is(err, ring.ErrBackPressure) {
		n.counts.Full++
		h.PauseNIC(now + n.packetTime())
		return nil
	}
	return err
}

func (n *nic) packetTime() units.Time {
	return n.fabric.PacketTime(n.self)
}

// encode writes the frame of p into buf and returns its length, 0 if its host cannot be
// reached any more.
func (n *nic) encode(buf []byte, p *transport.Packet) int {
	f := &n.out
	if !n.reach.To(f, p.Peer, p.Spine) {
		return 0
	}
	f.Entropy = wire.SourcePort(p.Entropy)
	f.ID = n.id
	n.id++
	f.Priority, f.Credit, f.ECN = p.Priority, p.Credit, wire.Marking(p.ECT, p.CE)
	f.Header = p.Header()
	f.Payload = buf[wire.HeaderOffset+p.HeaderLen:][:p.PayloadLen]
	n.fill(f.Payload, p)
	return f.Encode(buf)
}

// finish returns the socket's totals. Frames that are still delayed come too late
// for the transport, but not to be counted.
func (n *nic) finish() (NICCounts, error) {
	for n.due() != units.Never {
		n.deliver(units.Never, 0)
	}
	drops, err := n.socket.Drops()
	if err != nil {
		return n.counts, fmt.Errorf("counting the receive ring's drops: %w", err)
	}
	n.counts.Drops += int64(drops)
	return n.counts, nil
}

func (n *nic) close() {
	n.socket.Close()
	if n.credits != nil {
		n.credits.close()
	}
}
