// Package broker is what stands between the programs of a host and its transport: it
// keeps the bytes of messages that programs send until they are acknowledged, puts
// together those that arrive, and says what became of each.
//
// It is a state machine as transports are: it has no socket and no clock, belongs to one
// goroutine, and does the same for the same calls. Package node has it between sockets
// and a host.Host. The memory that it takes is limited (Limits): a program that has as
// much under way as it may is not read from, a message that arrives where there is no
// room for it is refused.
package broker

import (
	"maps"
	"slices"
	"strings"

	"sirdbed/sirdnode/message/frame"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Limits are of one host. Those of bytes count headers of messages, 16 bytes each, and
// all but Message let a single message through whatever its size.
type Limits struct {
	Message  int // bytes of the longest message of a program
	Client   int // bytes that a connection has under way
	Messages int // messages that a connection has under way
	Outgoing int // bytes that the host keeps until the transport has delivered them
	Window   int // bytes that are under way to one host, until programs there have taken them
	Incoming int // bytes that arrive, or wait for programs to take them
	Clients  int // connections
}

// DefaultLimits are those of hosts of a run.
var DefaultLimits = Limits{
	Message: 16 << 20, Client: 32 << 20, Messages: 1024, Outgoing: 64 << 20, Window: 16 << 20, Incoming: 128 << 20,
	Clients: 256,
}

// A Host is what a broker sends by. Its Offer may call the broker's Failed.
type Host interface {
	// NextID is the number of the next message to a peer.
	NextID(peer transport.HostID) transport.MessageID
	// Offer hands a message to the transport.
	Offer(now units.Time, peer transport.HostID, size units.Bytes, tag traffic.Tag)
}

// A Broker has the messages of one host's programs.
type Broker struct {
	self    topo.HostID
	hosts   int
	welcome []byte // data of that frame
	limits  Limits

	pool     pool
	serial   uint32
	offers   []*outgoing          // to be handed to the transport
	sent     map[number]*outgoing // that the transport has
	pending  map[uint32]*outgoing // messages and requests that nobody has answered yet, by id
	arriving map[number]*incoming // of which a part is there
	tokens   map[uint32]*incoming // that programs have to take, or to answer
	services map[uint16]*Client
	clients  int
	waiting  []*Client // for limits

	outgoing, incoming int   // bytes, as limited
	window             []int // by peer
}

// A number names a message among those of all pairs that this host is one of.
type number struct {
	peer transport.HostID
	id   transport.MessageID
}

// New makes the broker of a host.
func New(f *topo.Fabric, self topo.HostID, limits Limits) *Broker {
	names := make([]string, len(f.Hosts))
	for i := range names {
		names[i] = f.HostName(topo.HostID(i))
	}
	return &Broker{
		self: self, hosts: len(f.Hosts), welcome: []byte(strings.Join(names, "\n")), limits: limits,
		sent: map[number]*outgoing{}, pending: map[uint32]*outgoing{},
		arriving: map[number]*incoming{}, tokens: map[uint32]*incoming{},
		services: map[uint16]*Client{}, window: make([]int, len(f.Hosts)),
	}
}

// Flush hands over to the transport what programs have sent, and what answers others. It
// reports whether there was anything.
func (b *Broker) Flush(now units.Time, h Host) bool {
	any := len(b.offers) > 0
	for len(b.offers) > 0 {
		list := b.offers
		b.offers = nil
		for _, o := range list {
			b.sent[number{o.peer, h.NextID(o.peer)}] = o
			h.Offer(now, o.peer, units.Bytes(o.body.size), o.tag)
		}
		if b.offers == nil {
			b.offers = list[:0]
		}
		b.admit()
	}
	return any
}

// Waiting reports whether Flush has something to hand over.
func (b *Broker) Waiting() bool { return len(b.offers) > 0 }

// admit lets those who wait for limits go on, in turn, as far as these let them.
func (b *Broker) admit() {
	for range len(b.waiting) {
		c := b.waiting[0]
		b.waiting = append(b.waiting[:0], b.waiting[1:]...)
		c.waits = false
		c.process() // it may have to wait again
	}
}

// next returns an id that nothing under way has.
func (b *Broker) next() uint32 {
	for {
		b.serial++
		if b.pending[b.serial] == nil && b.tokens[b.serial] == nil {
			return b.serial
		}
	}
}

// tagOf is that of the message of an id.
func tagOf(id uint32) traffic.Tag {
	tag, err := traffic.MakeTag(traffic.Programs, int(id&traffic.MaxIndex))
	if err != nil {
		panic(err) // both are within their limits
	}
	return tag
}

// refuse has a message's sender know why nobody takes it.
func (b *Broker) refuse(peer transport.HostID, id uint32, code frame.Code) {
	b.post(&outgoing{kind: kindReceipt, code: code, peer: peer, id: id, tag: tagOf(id).Reply()})
}

// owned lists the tokens that are a client's, in order.
func (b *Broker) owned(c *Client) (list []uint32) {
	for _, token := range slices.Sorted(maps.Keys(b.tokens)) {
		if b.tokens[token].client == c {
			list = append(list, token)
		}
	}
	return list
}
