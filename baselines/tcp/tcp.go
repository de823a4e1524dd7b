// Package tcp is kernel TCP: real sockets in the hosts' namespaces, with any
// congestion control that the kernel has.
//
// A message is sent as a frame (frame.go) over one of a pool of connections to its
// destination, as for the other connection-oriented protocols: one message at a
// time on each, idle connections are used in turn, and messages wait when all are
// busy. When all of a message has arrived, the receiver's application answers with
// a frame without payload; then the sender counts it as acknowledged, and its
// connection is free. A connection that breaks fails the message that it carries.
// Only TCP retransmits, so that nothing can arrive twice.
//
//	Send -> outbound connection -> kernel ... kernel -> inbound connection -> Sink
//	Sink <- outbound connection <- kernel ... kernel <- inbound connection
//
// It is not a transport.Transport: packets, timers and windows are the kernel's.
// The driver takes messages and waits for sockets. The kernel's timers run in
// kernel time, with a retransmission timeout of at least 200 ms and delayed
// acknowledgements of up to 40 ms. A run's dilation shortens them in nominal time,
// which is why it should be 1 to 10 (README, Time).
//
// In the virtual engine's guest a system call that fails takes 10 ns, so that
// loops come to an end (handle_syscall of arch/um/kernel/skas/syscall.c, as patched
// by emu/virtual/kernel/kernel.patch), and others take no time. So nothing here
// reads or writes until EAGAIN: a short read has emptied the socket, a short write
// has filled it.
package tcp

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Port is the TCP port on which hosts listen.
const Port = 47100

// overhead is what a segment of an established connection has beside payload: IP
// and TCP headers of 20 bytes each, and timestamps.
const overhead units.Bytes = 20 + 20 + 12

// Framing returns how messages are cut into packets at an MTU.
func Framing(mtu units.Bytes) topo.Framing {
	return topo.Framing{MSS: mtu - overhead, Overhead: overhead}
}

// Protocols are kernel TCP as scenarios select it: by congestion control, or as tcp
// with the one that the parameters name.
var Protocols = []transport.Protocol{
	protocol("tcp", ""), protocol("tcp-cubic", "cubic"), protocol("tcp-dctcp", "dctcp"),
	protocol("tcp-bbr", "bbr"), protocol("tcp-reno", "reno"),
}

// protocol returns kernel TCP with one congestion control, or any if control is "".
func protocol(name, control string) transport.Protocol {
	return transport.Protocol{
		Name:          name,
		Framing:       Framing,
		DefaultParams: func(*topo.Fabric) any { return DefaultParams(control) },
		Network: func(f *topo.Fabric, params any) transport.Network {
			k := params.(*Params).step(f)
			return transport.Network{Priorities: 1, MarkCore: k, MarkEdge: k}
		},
		NewDriver: func(env transport.DriverEnv, params any) (transport.Driver, error) {
			p := params.(*Params)
			if err := p.validate(name, control); err != nil {
				return nil, err
			}
			return newDriver(env, p), nil
		},
	}
}
