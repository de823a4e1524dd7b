package host

import (
	"fmt"

	"sirdbed/sirdnode/record"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// An Application is what runs above a host's transport, or above its kernel's
// sockets: it sends messages and answers them, checks what arrives, and logs. It
// is the Sink of what is below it. It is for one goroutine, and now may never
// decrease.
type Application struct {
	cfg      Config
	below    Carrier
	source   Source
	log      *record.Writer
	programs Programs // nil without

	nextID  []transport.MessageID // by peer
	outbox  []outgoing            // to be sent once the transport's method has returned
	gauges  []func() float64
	gaugeAt units.Time
	sentAt  units.Time // when to log the wire bytes sent, if any were

	counts Counts
	named  map[*transport.Counter]int64

	life life
}

// A Source is the messages that an application sends, and how it answers those of others.
type Source interface {
	// NextAt returns when the next message arrives, units.Never if none is due.
	NextAt() units.Time
	// Pop returns the message that arrives at NextAt, false when there is none.
	Pop() (traffic.Arrival, bool)
	// Err returns why there are no more messages, if that is for a fault.
	Err() error
	// Completed reports that a message, or the reply to it where it has one, was delivered
	// or has failed.
	Completed(tag traffic.Tag, now units.Time)
	// ReplySize returns the size of the reply to a request of anyone's, 0 for none.
	ReplySize(tag traffic.Tag) units.Bytes
}

// A Carrier carries an application's messages: a transport, or the driver of the
// kernel's sockets.
type Carrier interface {
	Send(now units.Time, m transport.Message)
}

type outgoing struct {
	at units.Time
	m  transport.Message
}

// NewApplication makes the application of a host, which then lacks only what
// carries its messages: see SendOver.
func NewApplication(cfg Config, log *record.Writer) (*Application, error) {
	a := &Application{
		cfg: cfg, log: log,
		nextID:  make([]transport.MessageID, len(cfg.Fabric.Hosts)),
		gaugeAt: units.Never,
		named:   map[*transport.Counter]int64{},
	}
	if a.source = cfg.Source; a.source == nil {
		s, err := traffic.NewSource(cfg.Fabric, cfg.Streams, cfg.Seed, cfg.Self, cfg.To)
		if err != nil {
			return nil, err
		}
		a.source = s
	}
	if a.cfg.Number == nil {
		a.cfg.Number = func(h topo.HostID) topo.HostID { return h }
	}
	if cfg.GaugeEvery > 0 {
		a.gaugeAt = 0
	}
	if cfg.Mortal {
		a.life.open = map[opened]transport.Message{}
	}
	a.Gauge(payloadGauge, func() float64 { return float64(a.counts.Payload) })
	return a, nil
}

// SendOver sets what carries the application's messages. It comes before any of
// them.
func (a *Application) SendOver(c Carrier) { a.below = c }

// Advance does what is due by now: messages arrive from the application.
func (a *Application) Advance(now units.Time) {
	for a.source.NextAt() <= now {
		m, ok := a.source.Pop()
		if !ok {
			a.log.Put(record.Record{Kind: record.Note, At: now, Text: fmt.Sprint("no more messages: ", a.source.Err())})
			break
		}
		a.offer(now, m.At, m.Dst, m.Size, m.Tag)
	}
}

// Sample reads the gauges, if that is due by now. Sampling that fell behind is not
// made up for.
func (a *Application) Sample(now units.Time) {
	if a.gaugeAt > now {
		return
	}
	for i, read := range a.gauges {
		a.log.PutGauge(now, i, read())
	}
	a.logSent(now)
	a.gaugeAt += a.cfg.GaugeEvery * (1 + (now-a.gaugeAt)/a.cfg.GaugeEvery)
}

// logSent logs what the host has sent, now and then. Kernel TCP's segments are not
// counted here.
func (a *Application) logSent(now units.Time) {
	if now < a.sentAt || a.counts.SentBytes == 0 {
		return
	}
	a.sentAt = now + record.SentEvery(a.cfg.To)
	a.log.Put(record.Record{
		Kind: record.Sent, Peer: uint16(a.cfg.Fabric.Uplink(a.cfg.Self).ID), At: now, N: a.counts.SentBytes,
	})
}

// offer hands a message to the transport. at is its nominal arrival at the
// application, which latency counts from.
func (a *Application) offer(now, at units.Time, dst topo.HostID, size units.Bytes, tag traffic.Tag) {
	m := transport.Message{ID: a.nextID[dst], Tag: transport.Tag(tag), Peer: dst, Size: size}
	a.nextID[dst]++
	a.counts.Offered++
	a.life.opened(m)
	a.put(record.Offered, at, m, "")
	a.below.Send(now, m)
	a.Flush(now)
}

// Flush sends what events of the transport asked for.
func (a *Application) Flush(now units.Time) {
	for len(a.outbox) > 0 {
		batch := a.outbox
		a.outbox = nil
		for _, o := range batch {
			a.offer(now, o.at, o.m.Peer, o.m.Size, traffic.Tag(o.m.Tag))
		}
		if a.outbox == nil {
			a.outbox = batch[:0]
		}
	}
}

// Done reports that no message of this host is waiting to arrive or to be
// acknowledged.
func (a *Application) Done() bool {
	if a.life.dead {
		return a.life.over
	}
	return a.source.NextAt() == units.Never && a.counts.Offered == a.counts.Acked+a.counts.Failed
}

// Counts returns the host's totals so far.
func (a *Application) Counts() Counts { return a.counts }

// Finish writes the gauges' last values and the host's totals, and ends its log.
func (a *Application) Finish(now units.Time) error {
	if a.cfg.GaugeEvery > 0 {
		for i, read := range a.gauges {
			a.log.PutGauge(now, i, read())
		}
	}
	c := a.counts
	for _, e := range []struct {
		name string
		n    int64
	}{
		{"packets_sent", c.Sent}, {"packets_received", c.Received},
		{"wire_bytes_sent", c.SentBytes}, {"wire_bytes_received", c.ReceivedBytes},
		{"payload_received", c.Payload}, {"window_payload_received", c.WindowPayload},
		{"payload_mismatches", c.Mismatches},
		{"messages_offered", c.Offered}, {"messages_delivered", c.Delivered},
		{"messages_acked", c.Acked}, {"messages_failed", c.Failed},
	} {
		a.log.Put(record.Record{Kind: record.Counter, At: now, N: e.n, Text: e.name})
	}
	for _, name := range sortedCounters(a.named) {
		a.log.Put(record.Record{Kind: record.Counter, At: now, N: a.named[name], Text: name.Name})
	}
	a.log.Put(record.Record{Kind: record.End, At: now})
	return a.log.Flush()
}
