//go:build linux

package real

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/ring"
	"sirdbed/topo"
)

// tapping is the captures of a run: for each captured node one file, written by
// one goroutine from a tap on each of the chosen ports.
type tapping struct {
	nodes []*nodeTap
}

// A nodeTap captures at one node.
type nodeTap struct {
	ports   []*topo.Port // by tap
	taps    []*ring.Tap
	heads   []ring.Frame // the oldest frame of each tap that is not written yet
	full    []bool       // heads[i] has one
	capture emu.Capture
	clock   *clock.Clock

	quit  chan struct{}
	ended chan error
}

// How taps buffer. Frames of several taps are written in order of time, so each
// waits until all taps have handed out what they saw before it: for settle,
// longer than the kernel keeps a block that is not full. A ring must have room for what
// comes in the meantime, and while this process is not run: of its blocks each
// lasts tapRetire or until it is full, so many small ones do.
const (
	tapBlock  = 64 << 10
	tapBlocks = 128
	tapRetire = 10 * time.Millisecond
	settle    = 25 * time.Millisecond
)

// TapMemory is what the taps on a port take of the kernel's memory at most.
const TapMemory = 2 * tapBlock * tapBlocks

// startTaps opens the captures that the experiment asks for.
func (r *run) startTaps() (*tapping, error) {
	t := &tapping{}
	if r.hooks.OpenCapture == nil {
		return t, nil
	}
	for id := range r.topology.Nodes {
		node := &r.topology.Nodes[id]
		ports := capturedPorts(r.topology, node, r.x.Capture)
		if len(ports) == 0 || !r.has(node.ID) {
			continue
		}
		n := &nodeTap{clock: r.clock, quit: make(chan struct{}), ended: make(chan error, 1)}
		if err := n.open(r, node, ports); err != nil {
			return t, fmt.Errorf("capturing at %s: %w", node.Name, err)
		}
		t.nodes = append(t.nodes, n)
		go func() { n.ended <- n.run() }()
	}
	return t, nil
}

// capturedPorts returns the ports of a node that a list of node and port names
// asks for.
func capturedPorts(f *topo.Fabric, node *topo.Node, names []string) (ports []*topo.Port) {
	for _, id := range node.Ports {
		p := &f.Ports[id]
		if slices.Contains(names, node.Name) || slices.Contains(names, p.Name) {
			ports = append(ports, p)
		}
	}
	return ports
}

// tapsOf are the taps that a port takes. A tap for all protocols sees what
// arrives before the wire does, one for IPv4 behind it, where it has arrived.
func tapsOf(wires emu.Wires) []ring.TapConfig {
	if wires == emu.Netem {
		return []ring.TapConfig{{Protocol: unix.ETH_P_IP}, {SentOnly: true}}
	}
	return []ring.TapConfig{{}}
}

func (n *nodeTap) open(r *run, node *topo.Node, ports []*topo.Port) (err error) {
	err = r.fabric.Do(node.ID, func() error {
		for _, p := range ports {
			for _, c := range tapsOf(r.fabric.Wires()) {
				c.Interface, c.Snaplen, c.BlockSize, c.Blocks, c.Retire = p.Iface, r.x.SnapLen, tapBlock, tapBlocks,
					tapRetire
				tap, err := ring.OpenTap(c)
				if err != nil {
					return err
				}
				n.ports, n.taps = append(n.ports, p), append(n.taps, tap)
			}
		}
		return nil
	})
	if err == nil {
		n.heads, n.full = make([]ring.Frame, len(n.taps)), make([]bool, len(n.taps))
		var file *os.File
		if file, err = r.dir.Create(emu.CaptureFile(node.Name)); err == nil {
			n.capture, err = r.hooks.OpenCapture(file, node)
		}
	}
	if err != nil {
		for _, tap := range n.taps {
			tap.Close() // which would keep the node's namespace
		}
	}
	return err
}

func (n *nodeTap) run() error {
	realtime := clock.NewRealtime()
	for quitting := false; ; {
		realtime.Track(clock.Monotonic())
		until := time.Now().UnixNano() - settle.Nanoseconds()
		for {
			i := n.oldest()
			if i < 0 || n.heads[i].Realtime > until && !quitting {
				break
			}
			f := &n.heads[i]
			n.full[i] = false
			at := n.clock.ToNominal(realtime.ToMonotonic(f.Realtime))
			if at < 0 {
				continue // connections are made; a capture's time begins at 0
			}
			if err := n.capture.Packet(n.ports[i], at, f.Outgoing, f.Length, f.Data); err != nil {
				return err
			}
		}
		if quitting {
			return nil
		}
		select {
		case <-n.quit:
			time.Sleep(2 * settle)
			quitting = true
		case <-time.After(settle):
		}
	}
}

// oldest returns the tap with the oldest frame, -1 when there is none.
func (n *nodeTap) oldest() int {
	best := -1
	for i, tap := range n.taps {
		if !n.full[i] {
			n.heads[i], n.full[i] = tap.Next()
		}
		if n.full[i] && (best < 0 || n.heads[i].Realtime < n.heads[best].Realtime) {
			best = i
		}
	}
	return best
}

// stop writes what is left and closes the captures. It adds what the taps
// missed to drops.
func (t *tapping) stop(drops *int64) error {
	if t == nil {
		return nil
	}
	var errs []error
	for _, n := range t.nodes {
		close(n.quit)
		errs = append(errs, <-n.ended, n.capture.Close())
		for _, tap := range n.taps {
			if d, err := tap.Drops(); err == nil {
				*drops += int64(d)
			}
			errs = append(errs, tap.Close())
		}
	}
	return errors.Join(errs...)
}
