//go:build linux

// Package device makes an interface of the machine a host's port: a network card, one
// of its virtual functions, a tap, an end of a veth pair.
//
// The device stays where it is. In a namespace that dies a virtual device would be
// deleted, and a physical one come back without its addresses. So one end of a veth
// pair stands beside it, whose other end is the leaf's port, and programs join the two:
//
//	machine's namespace              leaf's namespace
//	cable === device <-> sirdN ----- h1-2, shaped by the port's qdiscs
//
// What arrives at one of the two, IPv4 or ARP, leaves through the other. What the
// machine itself would send on either is dropped: frames leave the device with its own
// address or not at all. The programs are attached by links that nobody pins (TCX), so
// that the kernel detaches them when their holder dies, whatever it dies of. Where TCX
// is missing they are filters (cls_bpf), which stay, and are in the way of all that
// arrives, until Restore removes them.
//
// What is changed at the device is written down before (Journal), and undone by Release,
// or by Restore in another process if the one that has taken it is no more.
//
// Functions that name no namespace work in that of the calling thread.
package device
