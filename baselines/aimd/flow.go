package aimd

import (
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/sirdnode/transport/timer"
	"sirdbed/topo/units"
)

// A flow is a sender's state for one receiver: the queue of messages, of which
// the first is being sent, and the rate.
type flow struct {
	queue queue.FIFO[transport.Message]
	rate  float64 // bit/s
	pacer timer.Pacer

	roundTrip Time // unloaded

	acked    account.Spans // of the first message
	next     Bytes         // offset of its next packet
	progress Time          // when it began or was sent again, or when bytes were last acknowledged
	timeouts int           // in a row

	adjustAt Time // when the rate is adjusted next
	marked   bool // an ACK since then has echoed a mark
}

// wakeAt returns when the flow has something to do.
func (f *flow) wakeAt(timeout Time) Time {
	switch {
	case f.queue.Len() == 0:
		return units.Never
	case f.next < f.queue.Front().Size:
		return f.pacer.At()
	}
	return f.progress + timeout
}

// sendData fills in the flow's next packet, if one may go now.
func (a *AIMD) sendData(now Time, f *flow, p *transport.Packet) bool {
	if f.queue.Len() == 0 || !f.pacer.Ready(now) {
		return false
	}
	m := *f.queue.Front()
	if f.next == 0 && f.acked.Total() == 0 && f.timeouts == 0 {
		f.progress = now // the first message begins
	}
	if f.next >= m.Size {
		if now < f.progress+a.params.Timeout {
			return false
		}
		if f.timeouts++; f.timeouts > a.params.Attempts {
			f.advance()
			a.env.Sink.Failed(now, m,
				fmt.Sprintf("%d timeouts of %v in a row", a.params.Attempts, a.params.Timeout))
			return a.sendData(now, f, p)
		}
		f.next, f.progress = 0, now
		a.env.Sink.Count(&timeouts, 1)
	}
	// What is acknowledged is not sent again.
	from, _, missing := f.acked.Gap(f.next, m.Size)
	if !missing {
		f.next = m.Size
		return false
	}
	n := min(a.mss, m.Size-from)
	f.next = from + n
	h := header{kind: data, id: m.ID, offset: uint32(from), length: uint32(m.Size), tag: m.Tag}
	h.encode(p)
	p.Peer, p.ID, p.Tag, p.Offset, p.PayloadLen = m.Peer, m.ID, m.Tag, from, int(n)
	p.Entropy = uint16(m.ID) * 40503 // one path for each message
	f.pacer.Rate = units.BitsPerSecond(f.rate)
	f.pacer.Sent(now, p.WireLen(), units.Nanosecond)
	return true
}

var timeouts = transport.Counter{Name: "timeouts"}

// advance moves on to the next message.
func (f *flow) advance() {
	f.queue.Pop()
	f.acked.Reset()
	f.next, f.timeouts = 0, 0
}

// takeAck records what has arrived at the receiver, and adjusts the rate once
// per unloaded round trip.
func (a *AIMD) takeAck(now Time, f *flow, h *header) {
	if f.queue.Len() == 0 || f.queue.Front().ID != h.id || Bytes(h.offset) >= f.queue.Front().Size {
		return // of a message that is settled
	}
	m, from := *f.queue.Front(), Bytes(h.offset)
	if f.acked.Add(from, min(from+a.mss, m.Size)) > 0 {
		f.progress, f.timeouts = now, 0
	}
	f.marked = f.marked || h.marked
	if now >= f.adjustAt {
		a.adjust(f)
		f.adjustAt, f.marked = now+f.roundTrip, false
	}
	if f.acked.Total() == m.Size {
		f.advance()
		a.env.Sink.Acked(now, m)
	}
}

// adjust is the control law.
func (a *AIMD) adjust(f *flow) {
	if f.marked {
		f.rate *= 1 - a.params.Cut
	} else {
		f.rate += float64(a.params.Step)
	}
	f.rate = min(max(f.rate, float64(a.params.Least)), float64(a.env.Fabric.Uplink(a.env.Self).Rate))
}

// An inbound is what a receiver knows of one sender. Messages come one after
// another, so that all before the current one are done.
type inbound struct {
	m        transport.Message
	received account.Spans
	next     transport.MessageID // the lowest that is not done
}

// takeData takes the bytes of a DATA packet and reports whether to acknowledge
// it.
func (a *AIMD) takeData(now Time, h *header, p *transport.Packet) bool {
	in := a.in[p.Peer]
	if in == nil {
		in = &inbound{}
		a.in[p.Peer] = in
	}
	n := Bytes(p.PayloadLen)
	if n == 0 || Bytes(h.offset)+n > Bytes(h.length) {
		return false // malformed
	}
	if h.id < in.next || h.id < in.m.ID {
		return true // a late duplicate: the ACK was lost, or the sender has moved on
	}
	if h.id != in.m.ID || in.received.Total() == 0 {
		in.m = transport.Message{ID: h.id, Tag: h.tag, Peer: p.Peer, Size: Bytes(h.length)}
		in.received.Reset()
	}
	if in.received.Add(Bytes(h.offset), Bytes(h.offset)+n) == 0 {
		return true
	}
	a.env.Sink.Data(now, in.m, Bytes(h.offset), int(n), p.Payload)
	if in.received.Total() == in.m.Size {
		in.next = h.id + 1
		in.received.Reset()
		a.env.Sink.Delivered(now, in.m)
	}
	return true
}
