//go:build linux

package real

import (
	"errors"
	"time"

	"sirdbed/emu/fabric/port"
	"sirdbed/sirdnode/node"
)

// How long a drain may take, and what is left for packets that no port shows, by
// the wall clock.
const (
	drainLimit = 5 * time.Second
	drainEvery = 10 * time.Millisecond // between two looks at the ports
	drainSlack = 20 * time.Millisecond // besides the longest path's transit
)

// drain reads what ports have sent in time, has the hosts send nothing more, and
// waits until what is under way has arrived, so that every packet is accounted
// for. Then nothing is left to watch.
func (r *run) drain() error {
	err := errors.Join(r.timeline.stop(r.facts), r.readPortsInTime())
	if r.going {
		for _, p := range r.hosts {
			p.send(node.CommandDrain)
		}
		r.awaitEmptyFabric()
	}
	return errors.Join(err, r.sampler.stop(r.facts), r.taps.stop(&r.facts.CaptureDrops))
}

// readPortsInTime reads what ports have sent by the end of the run. What waits in
// them leaves later.
func (r *run) readPortsInTime() error {
	if !r.going {
		return nil
	}
	r.sentInTime = make([]port.Stats, len(r.topology.Ports))
	err := r.fabric.PortStats(r.sentInTime)
	r.facts.PortsAt = max(0, r.clock.Now()) // a run may fail before nominal 0
	return err
}

// awaitEmptyFabric waits until no queue has a packet, as far as that can be
// seen, and for as long as one may still be on the longest path.
func (r *run) awaitEmptyFabric() {
	stats := make([]port.Stats, len(r.topology.Ports))
	for until := time.Now().Add(drainLimit); time.Now().Before(until); time.Sleep(drainEvery) {
		if r.fabric.PortStats(stats) != nil {
			break
		}
		waiting := int64(0)
		for i := range stats {
			bytes, _ := stats[i].Backlog()
			waiting += bytes
		}
		if waiting, err := r.waitingAnywhere(waiting); waiting == 0 || err != nil {
			break
		}
	}
	last := r.topology.Hosts[len(r.topology.Hosts)-1]
	transit := r.topology.Transit(r.topology.Path(0, last, 0), r.topology.FullFrame())
	time.Sleep(time.Duration(r.clock.Span(transit)) + drainSlack)
}
