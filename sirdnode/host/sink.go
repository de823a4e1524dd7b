package host

import (
	"slices"
	"strings"

	"sirdbed/sirdnode/record"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// The methods below make an Application the Sink of its transport.

// Data implements transport.Sink: it counts goodput and checks every byte.
func (a *Application) Data(now units.Time, m transport.Message, offset units.Bytes, n int, data []byte) {
	a.counts.Payload += int64(n)
	if now >= a.cfg.From && now < a.cfg.To {
		a.counts.WindowPayload += int64(n)
	}
	if a.ofPrograms(m) {
		a.programs.Data(m, offset, data)
		return
	}
	intact := data == nil || payloadIntact(data, a.cfg.Number(m.Peer), a.cfg.Number(a.cfg.Self), m.ID, offset)
	if !intact {
		a.counts.Mismatches++
	}
	if a.cfg.Watch != nil {
		a.cfg.Watch.Data(m, n, intact)
	}
}

// Delivered implements transport.Sink: requests are answered, and a reply
// completes its request.
func (a *Application) Delivered(now units.Time, m transport.Message) {
	a.counts.Delivered++
	a.put(record.Delivered, now, m, "")
	if a.cfg.Watch != nil {
		a.cfg.Watch.Delivered(m)
	}
	tag := traffic.Tag(m.Tag)
	if a.ofPrograms(m) {
		if !a.programs.Delivered(m) {
			a.counts.Mismatches++
		}
	} else if tag.IsReply() {
		a.source.Completed(tag.Request(), now)
	} else if size := a.source.ReplySize(tag); size > 0 {
		reply := transport.Message{Tag: transport.Tag(tag.Reply()), Peer: m.Peer, Size: size}
		a.outbox = append(a.outbox, outgoing{now, reply})
	}
}

// Acked implements transport.Sink.
func (a *Application) Acked(now units.Time, m transport.Message) {
	a.counts.Acked++
	a.life.settled(m)
	a.put(record.Acked, now, m, "")
	if a.ofPrograms(m) {
		a.programs.Acked(m)
		return
	}
	a.completed(now, m)
}

// Failed implements transport.Sink.
func (a *Application) Failed(now units.Time, m transport.Message, reason string) {
	a.counts.Failed++
	a.life.settled(m)
	a.put(record.Failed, now, m, reason)
	if a.cfg.Watch != nil {
		a.cfg.Watch.Failed(now, m, reason)
	}
	if a.ofPrograms(m) {
		a.programs.Failed(m, reason)
		return
	}
	a.completed(now, m)
}

// completed lets closed-loop traffic go on after a one-way message.
func (a *Application) completed(now units.Time, m transport.Message) {
	if tag := traffic.Tag(m.Tag); !tag.IsReply() && a.source.ReplySize(tag) == 0 {
		a.source.Completed(tag, now)
	}
}

// Gauge implements transport.Sink.
func (a *Application) Gauge(name string, read func() float64) {
	a.log.Put(record.Record{Kind: record.GaugeName, Peer: uint16(len(a.gauges)), Text: name})
	a.gauges = append(a.gauges, read)
}

// Count implements transport.Sink.
func (a *Application) Count(c *transport.Counter, n int) { a.named[c] += int64(n) }

func (a *Application) put(kind record.Kind, at units.Time, m transport.Message, text string) {
	a.log.Put(record.Record{
		Kind: kind, Peer: uint16(m.Peer), ID: uint32(m.ID), Tag: uint32(m.Tag), At: at, N: int64(m.Size), Text: text,
	})
}

func sortedCounters(m map[*transport.Counter]int64) []*transport.Counter {
	var list []*transport.Counter
	for c := range m {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *transport.Counter) int { return strings.Compare(a.Name, b.Name) })
	return list
}
