//go:build linux

// Package fabric builds a topology on Linux.
//
// Every host, leaf and spine is a network namespace, every link a veth pair
// between two of them, every egress a port (package port):
//
//	          spine1                 a node's namespace has
//	         /      \                  lo, with a switch's address
//	    leaf1        leaf2             one interface a port, named after its
//	   /     \      /     \            other end, with the port's qdisc tree
//	h1-1    h1-2  h2-1    h2-2         permanent neighbors and static routes
//
// There is no ARP, no IPv6 and nothing else that would send a packet of its
// own. A host's kernel has only its KernelAddr: what goes to the transport's
// addresses it drops silently, and raw sockets see it.
//
// Namespaces live by file descriptors of this process and nothing else, so a
// fabric ends with Close or with the process, however that ends. It takes rights
// that an ordinary user has in a sandbox (package sandbox).
//
// What kernels have in common and what not is found by doing it: see Probe.
package fabric
