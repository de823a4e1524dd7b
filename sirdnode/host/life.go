package host

import (
	"cmp"
	"maps"
	"slices"

	"sirdbed/sirdnode/record"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/timer"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// payloadGauge is the gauge that every host has, in each of its lives.
const payloadGauge = "payload_received"

// killedReason is why messages of a former life have failed.
const killedReason = "its host was killed"

// A life is what an application knows of the host's present life. Only a host that may be
// killed keeps track of its messages.
type life struct {
	dead, over bool // over: there is no other life
	open       map[opened]transport.Message
}

// opened names a message of this life that is not settled.
type opened struct {
	peer topo.HostID
	id   transport.MessageID
}

func (l *life) opened(m transport.Message) {
	if l.open != nil {
		l.open[opened{m.Peer, m.ID}] = m
	}
}

func (l *life) settled(m transport.Message) {
	if l.open != nil {
		delete(l.open, opened{m.Peer, m.ID})
	}
}

// Kill ends the host's life: its transport, and what that knew, are gone. Messages of its
// own that are not settled fail in the log. forGood says that there is no other life. Until
// Restart the caller does not call Advance, Receive or Next.
func (h *Host) Kill(now units.Time, forGood bool) {
	l := &h.life
	l.dead, l.over = true, forGood
	h.log.Put(record.Record{Kind: record.Killed, At: now})
	h.outbox = nil
	open := slices.SortedFunc(maps.Values(l.open), func(a, b transport.Message) int {
		return cmp.Or(cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.ID, b.ID))
	})
	for _, m := range open {
		h.Failed(now, m, killedReason)
	}
	h.proto = noTransport{}
	h.gauges = h.gauges[:1] // payloadGauge; the next transport registers its own
}

// Restart begins another life after Kill, with a new transport that knows nothing of the
// one before but the number of its incarnation. What the application would have sent while
// it was dead is not sent; messages are numbered from 0 again. Totals go on.
func (h *Host) Restart(now units.Time) error {
	h.restarts++
	if h.incarnation++; h.incarnation == 0 {
		h.incarnation = 1
	}
	h.life.dead = false
	h.log.Put(record.Record{Kind: record.Restarted, At: now, N: int64(h.restarts)})
	for h.source.NextAt() < now {
		m, ok := h.source.Pop()
		if !ok {
			break
		}
		h.source.Completed(m.Tag, now)
	}
	clear(h.nextID)
	h.nic, h.idle = timer.Pacer{Rate: h.nic.Rate}, true
	h.nic.Pause(now)
	return h.makeTransport()
}

// noTransport is the transport of a dead host.
type noTransport struct{}

func (noTransport) Send(units.Time, transport.Message)      {}
func (noTransport) Receive(units.Time, *transport.Packet)   {}
func (noTransport) Next(units.Time, *transport.Packet) bool { return false }
func (noTransport) Wake() units.Time                        { return units.Never }
