package modeltest_test

import (
	"fmt"
	"log"

	"sirdbed/baselines/aimd"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
)

// A protocol driven by hand: what it sends of a message before anything is
// acknowledged, and what its receiver answers.
func ExampleEnv() {
	f, err := topo.New(modeltest.Small)
	if err != nil {
		log.Fatal(err)
	}
	newHost := func(self topo.HostID) (transport.Transport, *modeltest.Sink) {
		env, sink := modeltest.Env(f, self)
		host, err := aimd.Protocol.New(env, aimd.Protocol.DefaultParams(f))
		if err != nil {
			log.Fatal(err)
		}
		return host, sink
	}
	src, srcSink := newHost(0)
	dst, dstSink := newHost(1)

	src.Send(0, transport.Message{Peer: 1, Size: 1000})
	var data, ack transport.Packet
	fmt.Println("sends:", src.Next(0, &data), data.PayloadLen, "bytes")
	data.Peer = 0
	dst.Receive(5000, &data)
	fmt.Println("delivered:", dstSink.Deliveries, "answers:", dst.Next(5000, &ack))
	ack.Peer = 1
	src.Receive(10_000, &ack)
	fmt.Println("acknowledged:", srcSink.Acks)
	// Output:
	// sends: true 1000 bytes
	// delivered: 1 answers: true
	// acknowledged: 1
}
