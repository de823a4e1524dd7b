package xpass

import (
	"errors"
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/headertest"
)

// Idle is Leaks as an error, for modeltest.
func (x *XPass) Idle() error {
	if leak := x.Leaks(); leak != "" {
		return errors.New(leak)
	}
	return nil
}

// Leaks describes state that is left at either half of a host when no message
// is under way; "" when all is released.
func (x *XPass) Leaks() string {
	switch {
	case x.queued.Len() != 0:
		return fmt.Sprintf("%d packets wait", x.queued.Len())
	case x.timers.Len() != 0:
		return fmt.Sprintf("%d timers run", x.timers.Len())
	case x.crediting.Len() != 0:
		return fmt.Sprintf("%d connections are sent credits", x.crediting.Len())
	case x.inbox.Open() != 0:
		return fmt.Sprintf("%d messages are half received", x.inbox.Open())
	}
	for _, o := range x.outPeers {
		if o != nil && (o.pool.Busy() != 0 || o.pool.Waiting() != 0 || o.pool.Open() != 0) {
			return fmt.Sprintf("to %d: %d connections busy, %d messages wait, %d open", o.id, o.pool.Busy(),
				o.pool.Waiting(), o.pool.Open())
		}
	}
	return ""
}

// Rate returns the credit rate of a connection that a host receives on, as a
// share of the highest, and W its aggressiveness.
func (x *XPass) Rate(peer, conn int) float64 { return x.inPeers[peer].conns[conn].rate / x.highest }
func (x *XPass) W(peer, conn int) float64    { return x.inPeers[peer].conns[conn].w }

// Loss returns the credits whose fate the control loops know, and those of them
// that were lost, since it was last called.
func (x *XPass) Loss() (total, lost int64) {
	total, lost = x.sinceGauged.total, x.sinceGauged.lost
	x.sinceGauged.total, x.sinceGauged.lost = 0, 0
	return total, lost
}

// Known returns what the control loop of one connection knows of credits since
// its last update.
func (x *XPass) Known(peer, conn int) (total, lost int64) {
	c := x.inPeers[peer].conns[conn]
	return c.total, c.lost
}

// A Header is a header as tests read and write it.
type Header struct {
	Kind           string
	Gone           bool
	Conn           uint16
	ID             transport.MessageID
	Seq, Time      uint32
	Count          uint32
	Offset, Length uint32
}

// Parse reads a header; its Kind is "?" if that is impossible.
func Parse(b []byte) Header {
	var h header
	if h.decode(b) != nil {
		return Header{Kind: "?"}
	}
	return Header{Kind: kindNames[h.kind], Gone: h.gone, Conn: h.conn, ID: h.id, Seq: h.seq, Time: h.time,
		Count: h.count, Offset: h.offset, Length: h.length}
}

// Encode writes a header into a packet.
func (h Header) Encode(p *transport.Packet) {
	e := header{gone: h.Gone, conn: h.Conn, id: h.ID, seq: h.Seq, time: h.Time, count: h.Count, offset: h.Offset,
		length: h.Length}
	for k, name := range kindNames {
		if name == h.Kind {
			e.kind = k
		}
	}
	e.encode(p)
}

// A Feedback is the control loop as tests drive it.
type Feedback struct{ feedback }

// Start begins a message, Returned counts a data packet, Update sets the rate.
func (f *Feedback) Start(now Time, p *Params, highest float64, n uint32) { f.start(now, p, highest, n) }
func (f *Feedback) Returned(p *Params, lost int64, rtt float64)          { f.returned(p, lost, rtt) }
func (f *Feedback) Update(now Time, p *Params, highest, size float64) bool {
	return f.update(now, p, highest, size)
}

// State returns the state of the loop.
func (f *Feedback) State() (rate, w, rtt float64) { return f.rate, f.w, f.rtt }

// Set sets the state of the loop.
func (f *Feedback) Set(rate, w float64, uncongested bool) {
	f.rate, f.w, f.uncongested = rate, w, uncongested
}

// Count sets what is known of credits, and Counts returns it.
func (f *Feedback) Count(total, lost int64)     { f.total, f.lost = total, lost }
func (f *Feedback) Counts() (total, lost int64) { return f.total, f.lost }

var kindNames = headertest.Names[kind](&table)
