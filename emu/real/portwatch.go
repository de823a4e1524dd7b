//go:build linux

package real

import (
	"sirdbed/emu"
	"sirdbed/emu/fabric/port"
	"sirdbed/sirdnode/clock"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A portWatch sees, in the samples of a port, whether it sent at its link's rate
// while packets waited. The kernel's timers and soft interrupts do the sending: where
// they are late or kept from running, no host's loop need be.
type portWatch struct {
	rate     units.BitsPerSecond
	from, to units.Time // the window
	// slack is how much a busy time may seem to have lost and have not: packets count
	// as sent when their transmission begins.
	slack units.Time

	seen          bool
	backlog, sent units.Bytes  // by the latest sample; sent on the wire
	at            units.Time   // when that was read
	busySince     units.Time   // packets have waited since
	sentBefore    units.Bytes  // by then
	progress      units.Time   // when packets were last seen to leave, in a busy time
	stuck         clock.Stalls // without progress
	lost          units.Time
}

func newPortWatch(p *topo.Port, full units.Bytes, from, to units.Time) *portWatch {
	slack := 2 * p.Rate.TimeFor(full)
	return &portWatch{rate: p.Rate, from: from, to: to, slack: slack,
		stuck: clock.Stalls{From: from, To: to, Least: slack}}
}

// look takes a sample of the port, which was read at a time.
func (w *portWatch) look(at units.Time, s *port.Stats) {
	if at < w.from || at > w.to {
		return
	}
	waiting := units.Bytes(0) // packets of the credit class wait by intention
	for i := range s.Queues[:port.MaxPriorities] {
		waiting += units.Bytes(s.Queues[i].Bytes)
	}
	sent := units.Bytes(s.SentWireBytes())
	// With less sent than waited before, it has not been empty in between.
	if busy := w.seen && waiting > 0 && sent-w.sent < w.backlog; !busy {
		w.end()
		w.busySince, w.sentBefore, w.progress = at, sent, at
	} else if sent != w.sent {
		w.stuck.Add(w.progress, w.at)
		w.progress = at
	}
	w.seen, w.at, w.backlog, w.sent = true, at, waiting, sent
}

// end ends a busy time with the latest sample.
func (w *portWatch) end() {
	if !w.seen {
		return
	}
	if w.backlog > 0 {
		w.stuck.Add(w.progress, w.at)
	}
	if lost := w.at - w.busySince - w.rate.TimeFor(w.sent-w.sentBefore); lost > w.slack {
		w.lost += lost
	}
	w.busySince, w.sentBefore, w.progress = w.at, w.sent, w.at
}

// stalls returns what was seen, after the last sample.
func (w *portWatch) stalls() *emu.Stalls {
	w.end()
	return &emu.Stalls{Total: w.lost, Longest: w.stuck.Longest}
}
