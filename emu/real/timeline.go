//go:build linux

package real

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A timeline makes the changes of the fabric that the timeline of faults states, each at
// its nominal time, on a thread of its own: rates of links, links that go down, and what
// happens to links between switches. The rest hosts do themselves.
type timeline struct {
	fabric  *fabric.Fabric
	clock   *clock.Clock
	changes []fabricChange // in order of time

	quit     *os.File // is closed to end it
	awaited  *os.File // is then at its end
	ended    chan error
	lateness clock.Lateness

	lost     []int64                  // by PortID: packets that links lost when they went down
	unrouted map[topo.NodeID]unrouted // by switch
}

// unrouted is what a switch had no route for before anything went down: what comes on top
// counts as lost by the first port that does.
type unrouted struct {
	before int64
	port   topo.PortID
}

// A fabricChange is one of them.
type fabricChange struct {
	at units.Time
	do func() error
}

// startTimeline starts it, if there is anything to change.
func (r *run) startTimeline() (*timeline, error) {
	t := &timeline{fabric: r.fabric, clock: r.clock, ended: make(chan error, 1),
		lost: make([]int64, len(r.topology.Ports)), unrouted: map[topo.NodeID]unrouted{}}
	for i := range r.topology.Ports {
		if err := t.plan(r.x.Timeline, topo.PortID(i)); err != nil {
			return nil, err
		}
	}
	if len(t.changes) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(t.changes, func(a, b fabricChange) int { return cmp.Compare(a.at, b.at) })
	var err error
	if t.awaited, t.quit, err = os.Pipe(); err != nil {
		return nil, err
	}
	go func() { t.ended <- t.run() }()
	return t, nil
}

// plan adds the changes of one direction of a link.
func (t *timeline) plan(faults fault.Timeline, id topo.PortID) error {
	p := &t.fabric.Topology().Ports[id]
	var link fabric.Link
	down := false
	for _, s := range faults.Steps(t.fabric.Topology(), id) {
		next := fabric.Link{Rate: s.Rate}
		if p.Core {
			next.Extra, next.Lose = s.Extra, s.Cut
		}
		if next != link && (t.fabric.Has(p.Node) || t.fabric.Has(p.Peer)) {
			link = next
			at := s.At + t.fabric.Behind(id)
			t.changes = append(t.changes, fabricChange{at, func() error { return t.fabric.Change(id, next) }})
		}
		isDown := s.Down && t.fabric.Topology().Nodes[p.Node].Kind == topo.Leaf
		if isDown != down && t.fabric.Has(p.Node) {
			down = isDown
			change := func() error { return t.fabric.Raise(id) }
			if down {
				change = func() error { return t.lower(id) }
				n, err := t.fabric.Unrouted(p.Node)
				if err != nil {
					return err
				}
				if _, ok := t.unrouted[p.Node]; !ok {
					t.unrouted[p.Node] = unrouted{n, id}
				}
			}
			t.changes = append(t.changes, fabricChange{s.At, change})
		}
	}
	return nil
}

func (t *timeline) lower(id topo.PortID) error {
	n, err := t.fabric.Lower(id)
	t.lost[id] += n
	return err
}

// run makes the changes.
func (t *timeline) run() error {
	if err := clock.LockThread(); err != nil {
		return err
	}
	for _, c := range t.changes {
		if quit, err := t.await(c.at); quit || err != nil {
			return err
		}
		if err := c.do(); err != nil {
			return fmt.Errorf("fault at %v: %w", c.at, err)
		}
		t.lateness.Add(int64(t.clock.Now() - c.at))
	}
	return nil
}

// await waits until a nominal time, or until it is to end.
func (t *timeline) await(at units.Time) (quit bool, err error) {
	const early = 1e6 // ns: poll is less exact than a sleep
	poll := []unix.PollFd{{Fd: int32(t.awaited.Fd()), Events: unix.POLLIN}}
	for {
		var left unix.Timespec
		wait := t.clock.ToKernel(at) - early
		now := clock.Monotonic()
		if wait <= now {
			return false, t.clock.WaitUntil(at)
		}
		n, err := unix.Ppoll(poll, clock.Timeout(wait, now, &left), nil)
		if n > 0 || err != nil && err != unix.EINTR {
			return true, err
		}
	}
}

// stop ends it, and puts down what it did. A nil timeline had nothing to do.
func (t *timeline) stop(facts *emu.Facts) error {
	if t == nil {
		return nil
	}
	t.quit.Close()
	err := <-t.ended
	t.awaited.Close()
	facts.FaultLateness = latenessOf(&t.lateness)
	for node, u := range t.unrouted {
		now, e := t.fabric.Unrouted(node)
		err = errors.Join(err, e)
		t.lost[u.port] += now - u.before
	}
	return err
}

// lostByLinks adds to the ports' facts what links between switches have lost, and what
// was lost with links that went down.
func (r *run) lostByLinks() error {
	if r.timeline == nil {
		return nil
	}
	wires, err := r.fabric.WireDrops()
	if err != nil {
		return err
	}
	for i := range r.facts.Ports {
		r.facts.Ports[i].Lost = wires[i] + r.timeline.lost[i]
	}
	return nil
}

// slowest is a port at the lowest rate that the timeline gives it, or one that sends
// nothing in the time of the run where its link goes down: no stall is seen where there may
// be none.
func (r *run) slowest(p *topo.Port) *topo.Port {
	slow := *p
	for _, s := range r.x.Timeline.Steps(r.topology, p.ID) {
		if s.Rate > 0 {
			slow.Rate = min(slow.Rate, s.Rate)
		}
		if s.Down {
			slow.Rate = 1
		}
	}
	return &slow
}

// lostBy adds what a host's uplink has lost by the host's own count.
func (r *run) lostBy(h topo.HostID, packets int64) {
	if id := r.topology.Uplink(h).ID; int(id) < len(r.facts.Ports) {
		r.facts.Ports[id].Lost += packets
	}
}
