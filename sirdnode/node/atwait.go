//go:build linux

package node

import (
	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/host"
	"sirdbed/sirdnode/ring"
	"sirdbed/topo/units"
)

// In a guest of the virtual engine a host sends by the system call in which it waits
// (ring.Socket.FlushAtWait): both are at one instant there, unless it has something else
// to do in between.

// mayFlushAtWait reports whether a host that has woken up at mono does nothing but serve
// its transport before it waits again.
func (n *node) mayFlushAtWait(mono int64) bool {
	return n.programs == nil && n.nic.links == nil && len(n.away.list) == 0 && n.foresight.transit == 0 &&
		n.cfg.Apart == 0 && mono < n.flushAt && !n.draining
}

// flushSoon is flush, or has the next wait do that.
func (n *nic) flushSoon(now units.Time, h *host.Host) error {
	if n.left = n.atWait && n.socket.FlushAtWait(); n.left {
		return nil
	}
	return n.flush(now, h)
}

// wait is ring.Socket.Wait, which may have frames to send. Where the kernel does not take
// them all, the host has something to do at another time.
func (n *node) wait(until int64, extra []unix.PollFd) (mono int64, err error) {
	for {
		ready, mono, err := n.nic.socket.Wait(until, extra)
		if err != nil || !n.nic.left {
			return mono, err
		}
		n.nic.left = false
		pending, err := n.nic.socket.Flushed()
		err = n.nic.flushed(pending, err, n.served, n.host)
		if err != nil || ready&ring.Unsent == 0 {
			return mono, err
		}
		until = n.waitUntil(n.served)
	}
}
