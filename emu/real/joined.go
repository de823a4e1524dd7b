//go:build linux

package real

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"sirdbed/emu"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/endpoint/join"
	"sirdbed/sirdnode/node"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A joined is what the run knows of a host whose process is at a peer.
type joined struct {
	peer   *join.Peer
	offset join.Offset // before the run: what its clock was set by
	after  join.Offset // zero unless the run came to its end
}

// awaitPeers waits until the peer of every host that joins is there.
func (r *run) awaitPeers(ctx context.Context) error {
	r.peers = map[topo.HostID]*join.Peer{}
	for _, name := range r.x.Joining() {
		h, ok := r.topologyHost(name)
		if !ok {
			return fmt.Errorf("there is no host %q", name)
		}
		p, err := r.engine.Gate.Await(ctx, name)
		if err != nil {
			return fmt.Errorf("waiting for peers: %w", err)
		}
		r.peers[h] = p
	}
	return nil
}

// topologyHost finds a host before the run is planned.
func (r *run) topologyHost(name string) (topo.HostID, bool) {
	f, err := topo.New(r.x.Topology)
	if err != nil {
		return 0, false
	}
	return f.Host(name)
}

// startJoined starts a host's process at its peer. The log is the process's from now on.
func startJoined(peer *join.Peer, h topo.HostID, name string, log *os.File) (*hostProcess, error) {
	p := &hostProcess{host: h, name: name, status: make(chan node.Status, 4), ended: make(chan struct{}),
		joined: &joined{peer: peer}}
	process, err := peer.Start(log, &p.stderr)
	if err != nil {
		log.Close()
		return nil, fmt.Errorf("starting the process of %s: %w", name, err)
	}
	p.stdin, p.stdout, p.kill = process, process, process.Kill
	p.wait = func() error {
		err := process.Wait()
		log.Close()
		return err
	}
	go p.read()
	return p, nil
}

// atPeer makes the configuration of a host one for its peer.
func (r *run) atPeer(c *node.Config, p *join.Peer) {
	c.Interface = p.Interface
	c.Cable = &node.Cable{Own: p.MAC, Leaf: r.devices[c.Self].MAC()}
	c.Programs = ""
	if !slices.Contains(p.Policies, c.Policy) {
		c.Policy = clock.Ordinary
	}
}

// compareClocks finds out by how much the clocks of peers are ahead.
func (r *run) compareClocks() (err error) {
	for _, p := range r.hosts {
		if p.joined == nil {
			continue
		}
		if p.joined.offset, err = p.joined.peer.Offset(); err != nil {
			return err
		}
	}
	return nil
}

// compareClocksAgain finds out how well they have kept. A peer that is gone has no clock any
// more, which is the run's failure already.
func (r *run) compareClocksAgain() (err error) {
	for _, p := range r.hosts {
		if p.joined == nil || p.failed != nil || !r.going {
			continue
		}
		if p.joined.after, err = p.joined.peer.Offset(); err != nil {
			return err
		}
	}
	return nil
}

// facts are what the peer's times are worth, nil for a host in a namespace.
func (j *joined) facts() *emu.JoinedFacts {
	if j == nil {
		return nil
	}
	f := &emu.JoinedFacts{
		Address: j.peer.Address(), Interface: j.peer.Interface, ClockError: units.Time(j.offset.Error),
	}
	if j.after == (join.Offset{}) {
		return f
	}
	drift := j.after.Ahead - j.offset.Ahead
	f.ClockDrift = units.Time(max(drift, -drift))
	f.ClockError = max(f.ClockError, f.ClockDrift+units.Time(j.after.Error))
	return f
}

// grace is how long a process may take from the end of its standard input to its own. What
// is left of a peer's log has to come.
func (j *joined) grace() time.Duration {
	if j == nil {
		return time.Second
	}
	return 10 * time.Second
}
