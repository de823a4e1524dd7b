package transport_test

import (
	"encoding/binary"
	"fmt"
	"log"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Datagram sends each message as one packet and never again: the least that a
// Transport can be.
type Datagram struct {
	env  transport.Env
	send queue.FIFO[transport.Message]
}

// Send implements transport.Transport.
func (d *Datagram) Send(now transport.Time, m transport.Message) {
	if d.env.Fits(now, m, 1400) {
		d.send.Push(m)
	}
}

// Next implements transport.Transport.
func (d *Datagram) Next(_ transport.Time, p *transport.Packet) bool {
	m, ok := d.send.Pop()
	if !ok {
		return false
	}
	p.Peer, p.ID, p.Tag, p.PayloadLen = m.Peer, m.ID, m.Tag, int(m.Size)
	p.HeaderLen = 8
	binary.BigEndian.PutUint32(p.HeaderBytes[0:], uint32(m.ID))
	binary.BigEndian.PutUint32(p.HeaderBytes[4:], uint32(m.Tag))
	return true
}

// Receive implements transport.Transport.
func (d *Datagram) Receive(now transport.Time, p *transport.Packet) {
	if !d.env.Knows(p.Peer) || p.HeaderLen != 8 {
		return
	}
	m := transport.Message{
		ID:   transport.MessageID(binary.BigEndian.Uint32(p.HeaderBytes[0:])),
		Tag:  transport.Tag(binary.BigEndian.Uint32(p.HeaderBytes[4:])),
		Peer: p.Peer, Size: transport.Bytes(p.PayloadLen),
	}
	d.env.Sink.Data(now, m, 0, p.PayloadLen, p.Payload)
	d.env.Sink.Delivered(now, m)
}

// Wake implements transport.Transport: time alone changes nothing.
func (d *Datagram) Wake() transport.Time { return units.Never }

// An application that prints what arrives.
type printer struct{ transport.Sink }

func (printer) Data(_ transport.Time, _ transport.Message, offset transport.Bytes, n int, data []byte) {
	fmt.Printf("bytes %d to %d: %q\n", offset, int(offset)+n, data)
}

func (printer) Delivered(now transport.Time, m transport.Message) {
	fmt.Printf("message %d from host %d delivered at %v\n", m.ID, m.Peer, now)
}

// A protocol of one's own, driven by hand: time goes in, packets come out.
func ExampleTransport() {
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: 100 * units.Gbps, HostDelay: units.Microsecond})
	if err != nil {
		log.Fatal(err)
	}
	var src, dst transport.Transport
	src = &Datagram{env: transport.Env{Self: 0, Fabric: f, Sink: printer{}}}
	dst = &Datagram{env: transport.Env{Self: 1, Fabric: f, Sink: printer{}}}

	src.Send(0, transport.Message{ID: 0, Peer: 1, Size: 5})
	for now := transport.Time(0); ; now += f.Spec.HostRate.TimeFor(f.FullFrame()) {
		var p transport.Packet
		if !src.Next(now, &p) {
			break
		}
		p.Peer, p.Payload = 0, []byte("hello") // by host and network
		dst.Receive(now+2*units.Microsecond, &p)
	}
	// Output:
	// bytes 0 to 5: "hello"
	// message 0 from host 0 delivered at 2us
}
