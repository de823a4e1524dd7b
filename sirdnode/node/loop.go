//go:build linux

package node

import (
	"fmt"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/clock"
	"sirdbed/topo/units"
)

// logEvery is how much of the log a crash can cost, in monotonic ns.
const logEvery = 200e6

// loop is the host's life: take what has arrived, do what is due, send what the
// NIC can take, sleep until the next of these.
func (n *node) loop() error {
	n.nic.clock = n.clock
	n.foresight = newForesight(n.nic, n.clock.Span)
	extra := []unix.PollFd{{Fd: int32(n.control.fd), Events: unix.POLLIN}}
	wait := n.clock.Origin()
	n.flushAt = wait + logEvery
	if n.cfg.Unlogged {
		n.flushAt = clock.Forever
	}
	pace := moderation{apart: n.cfg.Apart}
	for {
		if err := pace.rest(); err != nil {
			return err
		}
		mono, err := n.sleep(wait, extra)
		if err != nil {
			return err
		}
		pace.wokeAt(mono)
		now := n.clock.ToNominal(mono)
		if now >= 0 {
			n.foresight.looked(mono, n.nic.take(mono))
			now = n.looked(now)
			if !n.away.in {
				n.stood(min(n.nic.due(), n.host.NextWork()), now)
			}
		}
		if extra[0].Revents != 0 {
			extra[0].Revents = 0
			if stop, err := n.command(mono); err != nil || stop {
				return err
			}
		}
		if now >= n.cfg.End {
			n.drain(mono)
		}
		if now < 0 {
			wait = n.clock.Origin()
			continue
		}
		n.nic.atWait = n.mayFlushAtWait(mono)
		if err := n.live(now); err != nil {
			return err
		}
		if extra, err = n.servePrograms(now, extra); err != nil {
			return err
		}
		n.sample(now)
		n.served = now
		if err := n.keepLog(mono, now); err != nil {
			return err
		}
		wait = n.waitUntil(now)
	}
}

// waitUntil returns when the host has something to do again, by the monotonic clock.
func (n *node) waitUntil(now units.Time) int64 {
	next := n.wakeAt(now)
	if !n.draining {
		next = min(next, max(n.cfg.End, now+1))
	}
	if n.programs.busy() {
		next = now + 1
	}
	return min(n.clock.ToKernel(next), n.flushAt)
}

// keepLog writes the log when that is due, and reports to the controller.
func (n *node) keepLog(mono int64, now units.Time) error {
	if mono >= n.flushAt {
		n.flushAt = mono + logEvery
		if err := n.log.Flush(); err != nil {
			return fmt.Errorf("writing the host's log: %w", err)
		}
	}
	return n.report(now)
}

// report sends the controller news: that the host is done, or busy again.
func (n *node) report(now units.Time) error {
	done := n.draining || now >= n.cfg.To && n.settled()
	if done == n.done {
		return nil
	}
	if n.nic != nil {
		if err := n.nic.flush(now, n.host); err != nil {
			return err
		}
	}
	n.done = done
	state := StateBusy
	if done {
		state = StateDone
	}
	return n.out.Encode(Status{State: state})
}

// settled reports that nothing of the host's own is under way.
func (n *node) settled() bool {
	if n.host != nil {
		return n.host.Settled()
	}
	return n.app.Done()
}

// sample reads the gauges, if that is due. It is housekeeping: however late it is, it
// happens once, and now.
func (n *node) sample(now units.Time) {
	if !n.draining {
		n.app.Sample(max(now, n.last))
	}
}

// stood counts the time for which the host has stood still, if what was due first
// since it last served was due long ago. Once it drains nothing has a time any more.
func (n *node) stood(due, now units.Time) {
	if !n.draining {
		n.stalls.Add(max(due, n.served), now)
	}
}
