// Package brokertest is what tests of package broker and of programs' side, package
// message, need: hosts whose network is a list in memory.
package brokertest

import (
	"math/rand/v2"
	"testing"

	"sirdbed/sirdnode/message/broker"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// A Fabric is some hosts, each with a broker. It is for one goroutine, unless Listen has
// been called.
type Fabric struct {
	Brokers []*broker.Broker
	// Lose, when set, reports whether the transport gives a message up.
	Lose func(src, dst transport.HostID, size units.Bytes) bool
	// Damage, when set, changes a piece of a message on its way.
	Damage func(piece []byte)
	// Intact counts messages that arrived as they were sent, Damaged others.
	Intact, Damaged int

	topology *topo.Fabric
	hosts    []*host
	rand     *rand.Rand
	carried  []carried
	sockets  sockets
}

// A host numbers messages for the broker, and takes them.
type host struct {
	f    *Fabric
	self transport.HostID
	next []transport.MessageID
}

// carried is a message on its way.
type carried struct {
	src, dst transport.HostID
	id       transport.MessageID
	size     units.Bytes
	tag      traffic.Tag
}

// New makes a rack of hosts.
func New(t testing.TB, hosts int, limits broker.Limits) *Fabric {
	t.Helper()
	topology, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: hosts, HostRate: units.Gbps})
	if err != nil {
		t.Fatal(err)
	}
	f := &Fabric{topology: topology, rand: rand.New(rand.NewPCG(1, 2))}
	for i := range hosts {
		self := transport.HostID(i)
		f.Brokers = append(f.Brokers, broker.New(topology, self, limits))
		f.hosts = append(f.hosts, &host{f, self, make([]transport.MessageID, hosts)})
	}
	return f
}

// NextID implements broker.Host.
func (h *host) NextID(peer transport.HostID) transport.MessageID { return h.next[peer] }

// Offer implements broker.Host.
func (h *host) Offer(_ units.Time, peer transport.HostID, size units.Bytes, tag traffic.Tag) {
	h.f.carried = append(h.f.carried, carried{h.self, peer, h.next[peer], size, tag})
	h.next[peer]++
}

// Settle carries messages until none is left.
func (f *Fabric) Settle() {
	for again := true; again; {
		again = false
		for i, b := range f.Brokers {
			again = b.Flush(0, f.hosts[i]) || again
		}
		list := f.carried
		f.carried = nil
		for _, c := range list {
			f.carry(c)
			again = true
		}
	}
}

// carry takes a message to its receiver, in pieces of any size, the last one first.
func (f *Fabric) carry(c carried) {
	src, dst := f.Brokers[c.src], f.Brokers[c.dst]
	sent := transport.Message{ID: c.id, Tag: transport.Tag(c.tag), Peer: c.dst, Size: c.size}
	arrives := sent
	arrives.Peer = c.src
	lost := f.Lose != nil && f.Lose(c.src, c.dst, c.size)
	for end := c.size; end > 0; {
		n := min(end, 1+units.Bytes(f.rand.IntN(9000)))
		end -= n
		piece := make([]byte, n)
		if lost && end == 0 { // of what is one packet nothing arrives
			src.Failed(sent, "it was lost")
			return
		}
		src.Fill(piece, &transport.Packet{Peer: c.dst, ID: c.id, Offset: end})
		if f.Damage != nil {
			f.Damage(piece)
		}
		dst.Data(arrives, end, piece)
		if lost { // what has arrived by then is a part
			src.Failed(sent, "it was lost")
			return
		}
	}
	if dst.Delivered(arrives) {
		f.Intact++
	} else {
		f.Damaged++
	}
	src.Acked(sent)
}
