package packets

import (
	"cmp"
	"maps"
	"slices"

	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A Message is the packets of one message.
type Message struct {
	Protocol string `json:"protocol"`
	From     string `json:"from"`
	To       string `json:"to"`
	ID       uint32 `json:"message"`
	Size     int64  `json:"size_bytes"`
	First    int64  `json:"first_ns"` // packet
	Last     int64  `json:"last_ns"`
	Packets  int    `json:"packets"` // of all types, either way, that have its whole id
	Payload  int64  `json:"payload_bytes"`
	Again    int64  `json:"retransmitted_bytes"` // of the payload, what had been sent before
}

// Earlier are messages of which only sums are kept.
type Earlier struct {
	Messages int   `json:"messages"`
	Payload  int64 `json:"payload_bytes"`
	Again    int64 `json:"retransmitted_bytes"`
}

// mostMessages is how many messages are kept one by one.
const mostMessages = 100_000

type messageKey struct {
	sender, receiver topo.Addr
	port             uint16 // the protocol's
	id               uint32
}

// A message is one whose packets are being read.
type message struct {
	Message
	order int
	sent  account.Spans
	grant grantedTo
}

// messages are those of captures.
type messages struct {
	open    map[messageKey]*message
	earlier Earlier
	n       int
}

func (m *messages) init() { m.open = map[messageKey]*message{} }

// pair returns the ends of the message that a packet is about: the same for both ways.
func (p *Packet) pair() (sender, receiver topo.Addr) {
	if p.Protocol.Header.From(p.Type, p.Header) == wire.Receiver {
		return p.To, p.From
	}
	return p.From, p.To
}

// add counts a packet, and returns its message: nil if the packet does not name it, or
// nothing has told of such a message and how large it is.
func (m *messages) add(p *Packet) *message {
	id, ok := p.value(wire.Message)
	if !ok || p.shortID() {
		return nil
	}
	sender, receiver := p.pair()
	key := messageKey{sender, receiver, p.Protocol.Port, id}
	x := m.open[key]
	size, sized := p.value(wire.Length)
	if x == nil && !sized {
		return nil
	}
	if x == nil {
		if len(m.open) >= mostMessages {
			m.settle()
		}
		x = &message{order: m.n, Message: Message{
			Protocol: p.Protocol.Name, From: p.name(sender), To: p.name(receiver), ID: id,
			First: int64(p.At), Last: int64(p.At),
		}}
		m.n++
		m.open[key] = x
	}
	x.Packets++
	x.First, x.Last = min(x.First, int64(p.At)), max(x.Last, int64(p.At))
	if sized {
		x.Size = int64(size)
	}
	if offset, ok := p.value(wire.Offset); ok && p.Type.Data && p.Payload > 0 {
		from := units.Bytes(offset)
		x.Payload += int64(p.Payload)
		x.Again += int64(p.Payload) - int64(x.sent.Add(from, from+units.Bytes(p.Payload)))
	}
	return x
}

// settle forgets the half of the messages that were silent the longest.
func (m *messages) settle() {
	keys := slices.SortedFunc(maps.Keys(m.open), func(a, b messageKey) int {
		return cmp.Or(cmp.Compare(m.open[a].Last, m.open[b].Last), cmp.Compare(m.open[a].order, m.open[b].order))
	})
	for _, key := range keys[:len(keys)/2] {
		x := m.open[key]
		m.earlier.Messages++
		m.earlier.Payload += x.Payload
		m.earlier.Again += x.Again
		delete(m.open, key)
	}
}

func (m *messages) list() ([]Message, Earlier) {
	list := make([]Message, 0, len(m.open))
	for _, x := range slices.SortedFunc(maps.Values(m.open), func(a, b *message) int {
		return cmp.Compare(a.order, b.order)
	}) {
		list = append(list, x.Message)
	}
	return list, m.earlier
}
