package sirdnode

import (
	"slices"
	"strings"

	"sirdbed/sirdnode/record"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// The methods below make Host the Sink of its transport.

// Data implements transport.Sink: it counts goodput and checks every byte.
func (h *Host) Data(now units.Time, m transport.Message, offset units.Bytes, n int, data []byte) {
	h.counts.Payload += int64(n)
	if now >= h.cfg.From && now < h.cfg.To {
		h.counts.WindowPayload += int64(n)
	}
	if data != nil && !payloadIntact(data, m.Peer, h.cfg.Self, m.ID, offset) {
		h.counts.Mismatches++
	}
}

// Delivered implements transport.Sink: requests are answered, and a reply
// completes its request.
func (h *Host) Delivered(now units.Time, m transport.Message) {
	h.counts.Delivered++
	h.put(record.Delivered, now, m, "")
	tag := traffic.Tag(m.Tag)
	if tag.IsReply() {
		h.source.Completed(tag.Request(), now)
	} else if size := h.source.ReplySize(tag); size > 0 {
		reply := transport.Message{Tag: transport.Tag(tag.Reply()), Peer: m.Peer, Size: size}
		h.outbox = append(h.outbox, outgoing{now, reply})
	}
}

// Acked implements transport.Sink.
func (h *Host) Acked(now units.Time, m transport.Message) {
	h.counts.Acked++
	h.put(record.Acked, now, m, "")
	h.completed(now, m)
}

// Failed implements transport.Sink.
func (h *Host) Failed(now units.Time, m transport.Message, reason string) {
	h.counts.Failed++
	h.put(record.Failed, now, m, reason)
	h.completed(now, m)
}

// completed lets closed-loop traffic go on after a one-way message.
func (h *Host) completed(now units.Time, m transport.Message) {
	if tag := traffic.Tag(m.Tag); !tag.IsReply() && h.source.ReplySize(tag) == 0 {
		h.source.Completed(tag, now)
	}
}

// Gauge implements transport.Sink.
func (h *Host) Gauge(name string, read func() float64) {
	h.log.Put(record.Record{Kind: record.GaugeName, Peer: uint16(len(h.gauges)), Text: name})
	h.gauges = append(h.gauges, read)
}

// Count implements transport.Sink.
func (h *Host) Count(c *transport.Counter, n int) { h.named[c] += int64(n) }

func (h *Host) put(kind record.Kind, at units.Time, m transport.Message, text string) {
	h.log.Put(record.Record{
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
