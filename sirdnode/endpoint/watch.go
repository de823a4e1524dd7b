//go:build linux

package endpoint

import (
	"slices"

	"sirdbed/sirdnode/endpoint/session"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// A watch keeps what an endpoint's host reports besides its totals: a host.Watcher.
type watch struct {
	source *source
	from   map[topo.HostID]*session.Counts // what has come from each peer
	sent   int64                           // payload bytes of messages that went through
	// reasons are those for which messages failed, the first few.
	reasons []string
}

// mostReasons is how many different reasons are kept.
const mostReasons = 3

func newWatch() *watch { return &watch{from: map[topo.HostID]*session.Counts{}} }

func (w *watch) peer(h topo.HostID) *session.Counts {
	c := w.from[h]
	if c == nil {
		c = &session.Counts{}
		w.from[h] = c
	}
	return c
}

// Data implements host.Watcher.
func (w *watch) Data(m transport.Message, n int, intact bool) {
	c := w.peer(m.Peer)
	c.Payload += int64(n)
	if !intact {
		c.Mismatches++
	}
}

// Delivered implements host.Watcher.
func (w *watch) Delivered(m transport.Message) { w.peer(m.Peer).Messages++ }

// Failed implements host.Watcher.
func (w *watch) Failed(now units.Time, m transport.Message, reason string) {
	if tag := traffic.Tag(m.Tag); !tag.IsReply() {
		w.source.end(tag, now, false)
	}
	if len(w.reasons) < mostReasons && !slices.Contains(w.reasons, reason) {
		w.reasons = append(w.reasons, reason)
	}
}
