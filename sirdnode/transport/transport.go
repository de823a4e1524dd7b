// Package transport is the contract between a transport protocol and whatever
// runs it: a host process on a raw socket, or the model engine.
//
// A protocol is a state machine. Time goes in, packets and events come out; it
// owns no socket, clock, goroutine or lock, draws randomness only from the
// source that it was given, and allocates nothing per packet once warm. That
// is why the same code runs in every engine and is tested in milliseconds.
package transport

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Time, Bytes and HostID are used on every other line of a protocol.
type (
	Time   = units.Time
	Bytes  = units.Bytes
	HostID = topo.HostID
)

// MessageID names a message among those from one host to another. The host
// hands them out in the order of Send, from 0, for each ordered pair.
type MessageID uint32

// Tag is an application's label for a message. Protocols carry it to the other
// side unread.
type Tag uint32

// A Message is what an application hands over to be sent.
type Message struct {
	ID   MessageID
	Tag  Tag
	Peer HostID // the other end: destination where it is sent, source where it arrives
	Size Bytes  // payload, at least 1
}

// A Transport is one protocol at one host.
//
// Calls never overlap and now never decreases from one to the next. Whoever runs
// it calls Next when the NIC can take a packet, until it returns false or the NIC
// is busy, and reads Wake after any other call.
type Transport interface {
	// Send takes a message from the application.
	Send(now Time, m Message)
	// Receive takes a packet that has arrived intact. p is valid during the
	// call only.
	Receive(now Time, p *Packet)
	// Next fills in the packet to transmit now and reports whether there is
	// one. All fields of p that a protocol may set are zero on entry, save
	// Header's bytes.
	Next(now Time, p *Packet) bool
	// Wake returns when to call Next again if nothing else happens before:
	// units.Never if not at all, any time up to now if at once.
	Wake() Time
}

// MaxHeader is the longest transport header, in bytes.
const MaxHeader = 48

// A Packet is a packet on its way between a protocol and the network. A
// protocol sees one only during Next and Receive.
type Packet struct {
	// What the network does with it. It comes first: the model's ports look at nothing else.
	Priority uint8 // 0 to 7, 7 the most urgent
	ECT      bool  // may be marked
	Credit   bool  // of the ports' rate-limited credit class; not paced by the NIC
	// CE: on a packet received, marked on the way; on one sent, marked by the
	// sender's own queue.
	CE      bool
	Entropy uint16 // ECMP takes another path when it differs
	Spine   int    // the spine to go over, from 1; 0: the hash decides

	Peer HostID // destination when sent, source when received

	// Header is the protocol's own header, encoded. Protocols encode into
	// HeaderBytes and set HeaderLen; see SetHeader.
	HeaderBytes [MaxHeader]byte
	HeaderLen   int

	// The payload: PayloadLen bytes of message (ID, Tag) from Offset on. A
	// sender names them and the host fills in the bytes. A receiver finds the
	// bytes in Payload, which may be nil in the model engine: PayloadLen is the
	// length either way.
	ID         MessageID
	Tag        Tag
	Offset     Bytes
	PayloadLen int
	Payload    []byte

	// Set on packets received.
	Arrived Time // when its last bit arrived, which may be before now
}

// Header returns the encoded header.
func (p *Packet) Header() []byte { return p.HeaderBytes[:p.HeaderLen] }

// WireLen returns what the packet occupies on a link.
func (p *Packet) WireLen() Bytes { return wire.WireLen(p.HeaderLen, p.PayloadLen) }

// An Incarnation tells the lives of a host apart, which a restart separates. 0 is a host that is not
// known to restart, and a life that a peer does not know.
type Incarnation uint16

// Env is what a protocol is made with.
type Env struct {
	Self   HostID
	Fabric *topo.Fabric
	Sink   Sink
	Rand   *rand.Rand // seeded for this host
	// Incarnation is that of this life of the host. No two lives that packets under way, or
	// state at peers, may be of have the same.
	Incarnation Incarnation
}

// Knows reports whether a packet's peer is a host of the fabric other than this
// one. A packet from anyone else is malformed.
func (e *Env) Knows(peer HostID) bool {
	return peer >= 0 && int(peer) < len(e.Fabric.Hosts) && peer != e.Self
}

// Fits reports whether a message can be sent: it has at least one byte, and at
// most the limit. If not, Fits calls Sink.Failed with the reason.
func (e *Env) Fits(now Time, m Message, limit Bytes) bool {
	if m.Size >= 1 && m.Size <= limit {
		return true
	}
	e.Sink.Failed(now, m,
		fmt.Sprintf("a message of %v does not fit the protocol's header: want 1B to %v", m.Size, limit))
	return false
}

// A Sink takes a protocol's events. Calls come from inside the Transport's
// methods, and a Sink must not call back into it: a message that an event causes
// to be sent reaches Send after the method has returned.
type Sink interface {
	// Data hands over payload bytes that arrived for the first time, in any
	// order. data is nil when the engine carries no bytes; n is its length.
	Data(now Time, m Message, offset Bytes, n int, data []byte)
	// Delivered reports that all of a message has arrived, once for each message.
	Delivered(now Time, m Message)
	// Acked reports that the sender knows a message of its own to be delivered,
	// once for each message, and never after Failed.
	Acked(now Time, m Message)
	// Failed reports that the sender has given a message up, and why.
	Failed(now Time, m Message, reason string)
	// Gauge registers a quantity to be sampled over the run, such as a
	// congestion window. It is called while a protocol is being made, or with
	// the first packet to or from a peer; read is called between the protocol's
	// methods.
	Gauge(name string, read func() float64)
	// Count adds to a named counter, such as "retransmissions".
	Count(c *Counter, n int)
}

// A Counter is a named event count. Protocols declare theirs as package
// variables.
type Counter struct{ Name string }

// A Protocol is a transport as a scenario selects it.
type Protocol struct {
	Name string
	Wire wire.Protocol
	// Framing returns how messages are cut into packets at an MTU.
	Framing func(mtu Bytes) topo.Framing
	// DefaultParams returns the protocol's parameters for a fabric, as a
	// pointer to a struct of its own with json tags.
	DefaultParams func(f *topo.Fabric) any
	// Limits are those of the parameters: New has checked them, and so has whoever
	// read them from a file.
	Limits limit.Table
	// Fit, if set, returns what parameters that a scenario leaves open follow from its
	// traffic, as a JSON object of them, nil where none does. params is what the scenario
	// has made of the defaults.
	Fit func(f *topo.Fabric, params any, streams []traffic.Stream) json.RawMessage
	// Network returns what the protocol asks of the fabric's ports, given its
	// parameters.
	Network func(f *topo.Fabric, params any) Network
	// Window, if set, returns the wire bytes that one host may have on their way to
	// another at most, given the parameters: what a round trip has to be filled with. nil
	// where windows adapt.
	Window func(params any) Bytes
	// Rounds, if set, returns the rounds in which hosts act in step, given the parameters.
	Rounds func(f *topo.Fabric, params any) Rounds
	// ToAck is set where the protocol's authors measure slowdown until the sender knows of
	// the delivery, over a round trip: results have that definition too (scenarios/README,
	// Slowdown).
	ToAck bool
	// New makes the protocol at one host. params is what DefaultParams returned,
	// as changed by the scenario. It fails on parameters that cannot work,
	// naming the one at fault. It is nil for kernel TCP.
	New func(env Env, params any) (Transport, error)
	// CheckDriver checks the parameters of kernel TCP, as New does for transports; it
	// is nil for those. The host process makes the Driver.
	CheckDriver func(params any) error
}

// Rounds are how a protocol divides time whose hosts act in step: one whose packets take
// longer there and back than a round misses it.
type Rounds struct {
	Length Time
	// The parameter that rounds are in proportion to, and its value.
	Param string
	Value float64
}

// Network is what a protocol asks of the fabric's ports.
type Network struct {
	Priorities  int     // strict levels in use, 1 to 8
	MarkCore    Bytes   // ECN step on leaf-spine ports, 0: none
	MarkEdge    Bytes   // ECN step on leaf-host ports, 0: none
	CreditClass bool    // ports limit the credit class
	CreditQueue int     // packets of the credit class that a port has room for; 0: DefaultCreditQueue
	CreditShare float64 // of the link rate

	// InitialWindow is that of hosts' kernels, in segments, by their routes; 0: the
	// kernel's own. It is for kernel TCP alone.
	InitialWindow int
}

// The credit class of ports (ExpressPass; baselines/xpass/README.md, section Ports).
const (
	// DefaultCreditQueue is how many packets it has room for, unless the protocol
	// chooses.
	DefaultCreditQueue = 8
	// CreditBurst is how many packets of the smallest size the class may send
	// unspaced: the depth of its token bucket.
	CreditBurst = 2
)

// MarkStep returns the step of a port, 0 if it does not mark: a packet with ECT that
// finds as many bytes waiting, in all levels together, is marked. Both ends of a
// leaf-spine link are core, a leaf's port towards a host is edge, and hosts do not
// mark.
func (n *Network) MarkStep(f *topo.Fabric, p *topo.Port) Bytes {
	switch {
	case p.Core:
		return n.MarkCore
	case f.Nodes[p.Node].Kind == topo.Leaf:
		return n.MarkEdge
	}
	return 0
}
