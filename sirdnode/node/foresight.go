//go:build linux

package node

import (
	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/clock"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A foresight is what a host that delays frames itself knows of those it has not seen:
// they are on their way for the path's time from when the kernel stamps them, so none is
// due for a while after a look at the ring. A host that is busy need not be woken up for
// each, only to be put to sleep until it is due.
type foresight struct {
	transit int64 // of the smallest frame on the shortest way, in monotonic ns; 0: none
	horizon int64 // no frame that is not taken yet is due before, monotonic
	busy    bool  // frames came since the look before the last
}

// leastForesight is how far it must reach to be worth it: about what going to sleep
// and waking up take, in monotonic ns.
const leastForesight = 50e3

// newForesight is of a host at its NIC. span turns nominal into monotonic ns.
func newForesight(n *nic, span func(units.Time) int64) foresight {
	transit := units.Never
	for _, path := range n.paths {
		if path != nil {
			transit = min(transit, n.fabric.Transit(path, topo.MinWire))
		}
	}
	if transit == units.Never || span(transit) < leastForesight {
		return foresight{}
	}
	return foresight{transit: span(transit)}
}

// looked notes a look at the ring, which had frames or not.
func (f *foresight) looked(mono int64, frames bool) { f.horizon, f.busy = mono+f.transit, frames }

// sleep waits until a monotonic time, an extra descriptor, or until a frame may be due.
// What is due sooner than going to sleep and waking up take is waited for awake.
func (n *node) sleep(until int64, extra []unix.PollFd) (mono int64, err error) {
	f := &n.foresight
	if f.transit == 0 || until > f.horizon && !f.busy {
		return n.wait(until, extra)
	}
	until = min(until, f.horizon)
	if mono = clock.Monotonic(); until-mono > n.cfg.Spin {
		_, mono, err = n.nic.socket.Rest(until, extra)
		return mono, err
	}
	for mono < until {
		mono = clock.Monotonic()
	}
	return mono, nil
}
