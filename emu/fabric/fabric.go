//go:build linux

package fabric

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric/port"
	"sirdbed/emu/fabric/rtnl"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Config is how a topology is to be built on Linux. Its zero value is a
// fabric at nominal rates with one queue a port, no marking and no drops.
type Config struct {
	// Dilation stretches the kernel's clock: rates are divided by it and delays
	// multiplied. At least 1; 0 means 1.
	Dilation units.Dilation
	// Network is what the protocol asks of the ports. Priorities 0 means 1.
	Network transport.Network
	// QueueLimit is what each queue of each port has room for; 0: no drops.
	QueueLimit units.Bytes
	// BurstTime is how late the machine wakes up, by its own clock: each port
	// may make good what it missed, that is its rate times BurstTime. 0 means
	// a burst of one byte, which spaces exactly.
	BurstTime time.Duration
	// Marker chooses what marks: emu.RED, emu.EBPF, or emu.AnyMarker for RED
	// where the kernel has it and else eBPF. It does not matter where nothing is
	// to be marked.
	Marker emu.Marker
	// Wires chooses what serializes and delays: emu.Netem, emu.HostDelay (the
	// fabric does nothing), or emu.AnyWires for netem where the kernel has it and
	// else the hosts.
	Wires emu.Wires
	// HashSeed fixes the hash by which leaves choose a spine, where the kernel
	// lets it; 0 means 1, so that runs repeat.
	HashSeed uint32
	// Devices are the hosts that stand outside of the fabric, each behind an
	// interface of the machine. They stay their owner's, who releases them before
	// Close or after it.
	Devices map[topo.HostID]HostDevice
	// Part is what this kernel has of the fabric, nil for all of it.
	Part *Part
}

// A Fabric is a topology built out of network namespaces, veth pairs and
// traffic control. It lives until Close, or until the process ends.
//
// Its methods are safe for concurrent use.
type Fabric struct {
	topology *topo.Fabric
	config   Config
	levels   emu.Levels
	marker   emu.Marker
	wires    emu.Wires
	seeded   bool // the multipath hash's seed is fixed
	// controlByRoutes says that routes of hosts have defaultControl: their sysctl cannot.
	controlByRoutes bool

	mu         sync.RWMutex // locked for writing by Close
	closed     bool
	namespaces []namespace   // by topo.NodeID; none for nodes that other kernels have
	markers    *port.Markers // nil unless marker is emu.EBPF
}

// Build builds a topology. It takes a process with CAP_NET_ADMIN and
// CAP_SYS_ADMIN in its user namespace: root, or one in a sandbox. It
// makes nothing in the namespace that it is called in, and in the machine's what stands
// beside devices. What the kernel lacks
// for it is an error that matches emu.ErrNotSupported. On failure, or when ctx ends,
// nothing is left.
func Build(ctx context.Context, t *topo.Fabric, c Config) (*Fabric, error) {
	f := &Fabric{topology: t, config: c}
	if err := f.choose(); err != nil {
		return nil, err
	}
	if err := f.build(ctx); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Check reports whether this machine has what Build would make a topology's ports
// and wires of. What it lacks is an error that matches emu.ErrNotSupported.
func Check(t *topo.Fabric, c Config) error {
	f := &Fabric{topology: t, config: c}
	return f.choose()
}

// build does Build's work. The order saves time: sysctls come before the
// interfaces that copy them, qdiscs before their interface is up (else each
// costs an RCU grace period), routes after all interfaces are (else each
// carrier that appears visits them).
func (f *Fabric) build(ctx context.Context) (err error) {
	s := sysctls{wanted: map[topo.Kind][]setting{}}
	for _, kind := range []topo.Kind{topo.Host, topo.Leaf, topo.Spine} {
		s.wanted[kind] = settings(kind, f.config.HashSeed)
	}
	f.namespaces, err = makeNamespaces(ctx, len(f.topology.Nodes), func(i int) bool { return f.Has(topo.NodeID(i)) },
		func(i int) error { return s.apply(f.topology.Nodes[i].Kind) })
	if err != nil {
		return fmt.Errorf("fabric: %w", err)
	}
	f.seeded, f.controlByRoutes = !s.absent[hashSeedPath], s.byRoutes
	if err := f.makeLinks(ctx); err != nil {
		return err
	}
	if f.marker == emu.EBPF {
		if f.markers, err = port.NewMarkers(firstIndex, len(f.topology.Ports)); err != nil {
			return fmt.Errorf("fabric: %w", err)
		}
	}
	for _, add := range []func(*rtnl.Batch, topo.NodeID) error{f.addPorts, f.addLayer3} {
		if err := f.eachNode(ctx, add); err != nil {
			return err
		}
	}
	if err := f.attachDevices(); err != nil {
		return err
	}
	if err := f.awaitDevices(ctx); err != nil {
		return err
	}
	return f.awaitCarrier(ctx)
}

// eachNode carries out a batch in the namespace of every node.
func (f *Fabric) eachNode(ctx context.Context, add func(*rtnl.Batch, topo.NodeID) error) error {
	var b rtnl.Batch
	for id := range f.own() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.IsDevice(id) {
			continue // nothing is in its namespace
		}
		b.Reset()
		if err := add(&b, id); err != nil {
			return f.nodeError(id, err)
		}
		if err := f.namespaces[id].conn.Do(&b); err != nil {
			return f.nodeError(id, err)
		}
	}
	return nil
}

func (f *Fabric) addLayer3(b *rtnl.Batch, id topo.NodeID) error {
	f.addRoutes(b, id)
	return nil
}

func (f *Fabric) nodeError(id topo.NodeID, err error) error {
	return fmt.Errorf("fabric: %s: %w", f.topology.Nodes[id].Name, port.Explain(err))
}

// ErrClosed is what a closed Fabric's methods return.
var ErrClosed = errors.New("fabric: fabric is closed")

// Close takes the fabric down: the kernel frees the namespaces and all that is
// in them, in the background, as soon as no process is left inside. Closing
// twice does nothing.
func (f *Fabric) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	var err error
	if f.markers != nil {
		err = f.markers.Close()
	}
	for i := range f.namespaces {
		f.namespaces[i].close()
	}
	return err
}

// Topology returns what was built.
func (f *Fabric) Topology() *topo.Fabric { return f.topology }

// Wires returns what serializes and delays packets: emu.Netem or emu.HostDelay.
// With netem, a socket at a host must be bound to ETH_P_IP: one bound to
// ETH_P_ALL sees frames before the wire.
func (f *Fabric) Wires() emu.Wires { return f.wires }

// Features returns what the fabric is made with.
func (f *Fabric) Features() emu.Features {
	seed := emu.RandomHash
	if f.seeded {
		seed = emu.HashSeed(f.config.HashSeed)
	}
	scope := emu.PerPort
	if f.marker == emu.NoMarker {
		scope = 0
	}
	return emu.Features{
		Marker: f.marker, MarkerScope: scope, Levels: f.levels, Wires: f.wires, HashSeed: seed,
		BurstTime: emu.KernelTime(f.config.BurstTime),
	}
}

// NamespaceFD returns the descriptor of a node's network namespace, -1 when the
// fabric is closed, or another kernel has the node. It stays the Fabric's and is good until Close.
func (f *Fabric) NamespaceFD(id topo.NodeID) int {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return -1
	}
	return f.namespaces[id].fd
}

// Do runs work on a thread inside the network namespace of a node and returns
// its error. Sockets opened there stay there, and may be used from anywhere.
// The goroutines that work starts are not inside. A namespace that is being
// worked in outlives Close.
func (f *Fabric) Do(id topo.NodeID, work func() error) error {
	fd, err := f.duplicateFD(id)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return Within(fd, work)
}

// duplicateFD returns a namespace's descriptor of the caller's own, since Close
// may come at any time and its number be used again.
func (f *Fabric) duplicateFD(id topo.NodeID) (int, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return -1, ErrClosed
	}
	if !f.Has(id) {
		return -1, f.nodeError(id, errors.New("another kernel has it"))
	}
	fd, err := unix.FcntlInt(uintptr(f.namespaces[id].fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, f.nodeError(id, fmt.Errorf("duplicate the namespace's descriptor: %w", err))
	}
	return fd, nil
}
