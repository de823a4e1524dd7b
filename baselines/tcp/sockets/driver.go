//go:build linux

// Package sockets is the driver of kernel TCP: real sockets in the hosts'
// namespaces. It needs Linux, and package sirdnode/node is the one to use it;
// package tcp has what scenarios and engines need to know of the protocol.
//
// A message is sent as a frame (frame.go) over one of a pool of connections to its
// destination, as for the other connection-oriented protocols: one message at a
// time on each, of idle connections the one used last, and messages wait when all
// are busy. When all of a message has arrived, the receiver's application answers
// with a frame without payload; then the sender counts it as acknowledged, and its
// connection is free. A connection that breaks fails the message that it carries.
// Only TCP retransmits, so that nothing can arrive twice.
//
//	Send -> outbound connection -> kernel ... kernel -> inbound connection -> Sink
//	Sink <- outbound connection <- kernel ... kernel <- inbound connection
//
// In the virtual engine's guest a system call that fails takes 10 ns, so that
// loops come to an end (handle_syscall of arch/um/kernel/skas/syscall.c, as patched
// by emu/virtual/kernel/kernel.patch), and others take no time. So nothing here
// reads or writes until EAGAIN: a short read has emptied the socket, a short write
// has filled it.
package sockets

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"sirdbed/baselines/flow"
	"sirdbed/baselines/tcp"
	"sirdbed/sirdnode/transport"
)

type (
	// Time is in nominal ns.
	Time = transport.Time
	// Bytes counts payload.
	Bytes = transport.Bytes
)

// Driver is kernel TCP at one host. It implements transport.Driver.
type Driver struct {
	env    transport.DriverEnv
	params tcp.Params

	poller   poller
	listener int              // -1: none
	peers    []*peer          // by HostID, nil until needed
	inbound  map[int]*inbound // by descriptor
	buffer   []byte           // shared by all reads
	vector   vector           // shared by all writes
	pieces   int              // of a vector: more than a send buffer holds

	info socketInfo
}

// bufferSize is the most that one system call reads.
const bufferSize = 256 << 10

// A peer is what this host knows of another that it sends to.
type peer struct {
	id          transport.HostID
	pool        *flow.Pool[outbound]
	connections []*outbound
}

var _ transport.Driver = (*Driver)(nil)

// New makes the driver of one host, with parameters that the protocol has
// accepted. Nothing is opened yet.
func New(env transport.DriverEnv, params *tcp.Params) *Driver {
	d := &Driver{
		env: env, params: *params, listener: -1, poller: poller{fd: -1},
		peers: make([]*peer, len(env.Fabric.Hosts)), inbound: map[int]*inbound{},
		buffer: make([]byte, bufferSize),
		pieces: int(min(maxPieces, params.SendBuffer[2]/transport.MaxPayload+2)),
	}
	d.addGauges()
	return d
}

// Send implements transport.Driver.
func (d *Driver) Send(now Time, m transport.Message) {
	p := d.peer(m.Peer)
	if c := p.pool.Add(m); c != nil {
		c.carry(now, m)
	}
}

// peer returns the state of a peer, new when it is first needed.
func (d *Driver) peer(id transport.HostID) *peer {
	if d.peers[id] == nil {
		p := &peer{id: id}
		p.pool = flow.NewPool(d.params.Connections, func(n int) *outbound { return d.connection(p, n) })
		d.peers[id] = p
	}
	return d.peers[id]
}

// connection returns a peer's n-th connection, open or not.
func (d *Driver) connection(p *peer, n int) *outbound {
	for len(p.connections) <= n {
		p.connections = append(p.connections, &outbound{driver: d, peer: p, fd: -1})
	}
	return p.connections[n]
}

// Open implements transport.Driver.
func (d *Driver) Open(control int) error {
	if err := d.poller.open(control); err != nil {
		return err
	}
	if err := d.prepare(); err != nil {
		return err
	}
	d.allowDescriptors()
	var err error
	if d.listener, err = listen(d.env.Fabric.KernelAddr(d.env.Self), d.params.CongestionControl); err != nil {
		return err
	}
	if err := d.poller.add(d.listener, unix.EPOLLIN, (*acceptor)(d)); err != nil {
		return err
	}
	return d.noteSettings()
}

// allowDescriptors raises the limit of open files to what connections may need, or
// as far as the system allows. Beyond the limit, messages fail for that reason.
func (d *Driver) allowDescriptors() {
	var limit unix.Rlimit
	want := uint64(2*d.params.Connections*len(d.peers) + 64)
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil || limit.Cur >= want {
		return
	}
	if unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: want, Max: max(want, limit.Max)}) != nil {
		_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: min(want, limit.Max), Max: limit.Max})
	}
}

// maxPreopened is how many connections of the whole fabric are opened before
// the first message, beyond one from each host to each peer: each takes a few KB
// at both ends.
const maxPreopened = 20_000

// Connect implements transport.Driver. A connection that cannot be opened is
// tried again with its first message.
func (d *Driver) Connect(peers []transport.HostID) {
	if len(peers) == 0 {
		return
	}
	for n := range preopened(d.params.Connections, len(d.peers), len(peers)) {
		for _, id := range peers {
			_ = d.connection(d.peer(id), n).open()
		}
	}
}

// preopened returns how many of a pool's connections are opened before the first
// message, in a fabric of so many hosts with as many peers each.
func preopened(connections, hosts, peers int) int {
	return min(connections, max(1, maxPreopened/(hosts*peers)))
}

// Wait implements transport.Driver.
func (d *Driver) Wait(deadline int64) (control bool, monotonic int64, err error) {
	return d.poller.wait(deadline)
}

// Serve implements transport.Driver.
func (d *Driver) Serve(now Time) { d.poller.serve(now) }

// Abort implements transport.Driver.
func (d *Driver) Abort() {
	if d.listener >= 0 {
		d.poller.remove(d.listener)
		unix.Close(d.listener)
		d.listener = -1
	}
	for _, p := range d.peers {
		if p == nil {
			continue
		}
		for _, c := range p.connections {
			c.close()
		}
	}
	for _, c := range d.inbound {
		c.close()
	}
}

// Close implements transport.Driver.
func (d *Driver) Close() {
	d.Abort()
	d.poller.close()
}

// acceptor accepts the connections that others open.
type acceptor Driver

// ready implements watcher. It accepts one connection; epoll reports again what
// is left.
func (a *acceptor) ready(Time, uint32) {
	d := (*Driver)(a)
	fd, from, err := unix.Accept4(d.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	switch {
	case err == nil:
		d.accept(fd, from)
	case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ECONNABORTED) && !errors.Is(err, unix.EAGAIN):
		d.env.Note(fmt.Sprintf("accepting connections: %v", err))
	}
}

// Counters of errors.
var (
	brokenConnections = &transport.Counter{Name: "broken_connections"}
	brokenFrames      = &transport.Counter{Name: "broken_frames"}
)
