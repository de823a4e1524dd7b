//go:build linux

package node

import "sirdbed/sirdnode/clock"

// A moderation keeps wake-ups apart, as a NIC does with interrupts: one for each packet
// costs more than the packet where arming a timer or waking a processor leaves a virtual
// machine. A host that has slept wakes up for the first packet; one that is woken up
// again and again sleeps for a time in between, and finds what has come since. What was
// due in that time is made good as for any late wake-up. The zero value does nothing.
type moderation struct {
	apart        int64 // in monotonic ns
	woke, before int64 // the last two times
}

// rest sleeps before the next wake-up, if they come close together.
func (m *moderation) rest() error {
	if m.apart == 0 || m.woke-m.before >= 2*m.apart {
		return nil
	}
	return clock.SleepUntil(m.woke + m.apart)
}

// wokeAt notes a wake-up.
func (m *moderation) wokeAt(mono int64) { m.before, m.woke = m.woke, mono }
