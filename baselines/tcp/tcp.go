// Package tcp is the TCP of the hosts' own kernel: real sockets in the hosts'
// namespaces, with whatever congestion control that kernel has.
//
// It is not a transport.Transport: packets, timers and windows are the
// kernel's. This package is what scenarios and engines know of it: names,
// parameters and framing. The driver that takes messages and waits for the
// sockets is package sockets, below it. The kernel's timers run on the kernel's
// clock: least retransmission timeout 200 ms, delayed acknowledgements of up to
// 40 ms. A run's dilation shortens them in nominal time, which is why it should
// be 1 to 10 (README, Time).
package tcp

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// overhead is what a segment of an established connection carries besides
// payload: IP and TCP headers of 20 bytes each, and timestamps.
const overhead units.Bytes = 20 + 20 + 12

// Framing returns how messages are cut into packets at an MTU.
func Framing(mtu units.Bytes) topo.Framing {
	return topo.Framing{MSS: mtu - overhead, Overhead: overhead}
}

// Protocols are kernel TCP as scenarios select it: by congestion control, or as
// tcp with one that the parameters name.
var Protocols = []transport.Protocol{
	protocol("tcp", ""), protocol("tcp-cubic", "cubic"), protocol("tcp-dctcp", "dctcp"),
	protocol("tcp-bbr", "bbr"), protocol("tcp-reno", "reno"),
}

// protocol is TCP with one congestion control, "" for any.
func protocol(name, control string) transport.Protocol {
	return transport.Protocol{
		Name:          name,
		Framing:       Framing,
		DefaultParams: func(*topo.Fabric) any { return DefaultParams(control) },
		Network: func(f *topo.Fabric, params any) transport.Network {
			k := params.(*Params).step(f)
			return transport.Network{Priorities: 1, MarkCore: k, MarkEdge: k}
		},
		Kernel: func(params any) error { return params.(*Params).validate(name, control) },
	}
}
