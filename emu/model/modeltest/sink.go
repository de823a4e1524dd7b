package modeltest

import (
	"math/rand/v2"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
)

// A Sink counts what a protocol reports, for tests that drive one without an
// engine.
type Sink struct {
	Bytes  int64 // by Data
	Times  map[transport.MessageID]int
	Counts map[string]int

	Deliveries, Acks, Failures int
	Reason                     string // of the last failure
}

// Env makes the environment of a protocol at a host, and its Sink.
func Env(f *topo.Fabric, self topo.HostID) (transport.Env, *Sink) {
	k := &Sink{Times: map[transport.MessageID]int{}, Counts: map[string]int{}}
	return transport.Env{Self: self, Fabric: f, Sink: k, Rand: rand.New(rand.NewPCG(1, 1))}, k
}

// Data implements transport.Sink.
func (k *Sink) Data(_ transport.Time, _ transport.Message, _ transport.Bytes, n int, _ []byte) {
	k.Bytes += int64(n)
}

// Delivered implements transport.Sink.
func (k *Sink) Delivered(_ transport.Time, m transport.Message) {
	k.Deliveries++
	k.Times[m.ID]++
}

// Acked implements transport.Sink.
func (k *Sink) Acked(transport.Time, transport.Message) { k.Acks++ }

// Failed implements transport.Sink.
func (k *Sink) Failed(_ transport.Time, _ transport.Message, reason string) {
	k.Failures++
	k.Reason = reason
}

// Gauge implements transport.Sink.
func (k *Sink) Gauge(string, func() float64) {}

// Count implements transport.Sink.
func (k *Sink) Count(c *transport.Counter, n int) { k.Counts[c.Name] += n }
