// Package tcp is kernel TCP: real sockets in the hosts' namespaces, with any
// congestion control that the kernel has.
//
// It is not a transport.Transport: packets, timers and windows are the kernel's.
// This package is what scenarios and engines know of it: names, parameters and
// framing. The driver that takes messages and waits for sockets is package
// sockets, below it. The kernel's timers run in kernel time, with a retransmission
// timeout of at least 200 ms and delayed acknowledgements of up to 40 ms. A run's
// dilation shortens them in nominal time, which is why it should be 1 to 10
// (README, Time).
package tcp

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

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
		Limits:        limits,
		Network: func(f *topo.Fabric, params any) transport.Network {
			p := params.(*Params)
			k := p.step(f)
			return transport.Network{Priorities: 1, MarkCore: k, MarkEdge: k, InitialWindow: p.InitialWindow}
		},
		CheckDriver: func(params any) error { return params.(*Params).validate(name, control) },
	}
}
