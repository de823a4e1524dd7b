package sird_test

import (
	"testing"

	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// backToBack is two hosts whose packets are handed from one to the other without
// any engine, on a link of 100 Gbps without delay.
type backToBack struct {
	hosts   [2]core
	now     units.Time
	ps      int64
	p       transport.Packet
	packets int
	next    transport.MessageID
}

func newBackToBack(t testing.TB, hosts int) *backToBack {
	f := rack(t, hosts)
	return &backToBack{hosts: [2]core{newCore(t, f, 0, params(f, nil)), newCore(t, f, 1, params(f, nil))}}
}

// send has host 0 send a message.
func (b *backToBack) send(size units.Bytes) {
	b.hosts[0].Send(b.now, transport.Message{ID: b.next, Peer: 1, Size: size})
	b.next++
}

// step lets the time of a packet pass, and each host send one.
func (b *backToBack) step() {
	b.ps += 123_040
	b.now = units.Time(b.ps / 1000)
	for h, s := range b.hosts {
		if s.Wake() > b.now || !s.Next(b.now, &b.p) {
			continue
		}
		b.packets++
		b.p.Peer = topo.HostID(h)
		b.hosts[1-h].Receive(b.now, &b.p)
		b.p = transport.Packet{HeaderBytes: b.p.HeaderBytes}
	}
}

// large keeps two messages of 10 MB under way.
func (b *backToBack) large() {
	for int(b.next) < b.hosts[0].sink.Acks+2 {
		b.send(10_000_000)
	}
	b.step()
}

// small sends a message of 8 bytes, and has it delivered and acknowledged.
func (b *backToBack) small() {
	b.send(8)
	for b.hosts[0].sink.Acks < int(b.next) {
		b.step()
	}
}

// What a message costs does not grow with how many there were.
func TestFewAllocationsPerMessage(t *testing.T) {
	b := newBackToBack(t, 2)
	for range 5000 {
		b.small()
	}
	if allocs := testing.AllocsPerRun(5000, b.small); allocs > 4 {
		t.Errorf("%v allocations per message of 8 bytes", allocs)
	}
}

// BenchmarkCore measures what the protocol itself costs at both hosts together. An
// op is a packet sent and received (large), or a message, of two packets (small).
func BenchmarkCore(b *testing.B) {
	b.Run("large", func(b *testing.B) {
		bb := newBackToBack(b, 2)
		for range 20_000 {
			bb.large()
		}
		b.ReportAllocs()
		b.ResetTimer()
		for bb.packets = 0; bb.packets < b.N; {
			bb.large()
		}
	})
	b.Run("small", func(b *testing.B) {
		bb := newBackToBack(b, 2)
		for range 5000 {
			bb.small()
		}
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			bb.small()
		}
	})
}

// No packet allocates anything once queues and pools have grown.
func TestNoAllocationPerPacket(t *testing.T) { modeltest.NoAllocationPerPacket(t, subject) }
