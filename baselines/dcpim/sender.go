package dcpim

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
)

// sender is the sending half of a host.
type sender struct {
	peers    []*outPeer // by HostID, nil until met
	requests []wish     // of this round
	shares   [2]share

	ready  queue.Heap[outMessage] // messages that may send: by token priority, then fewest packets left
	timers queue.Heap[outMessage] // by when to check whether they have fallen silent
	tokens int                    // held for all messages
}

// An outPeer is a sender's state for one receiver.
type outPeer struct {
	id       transport.HostID
	messages account.Outgoing[*outMessage]

	accepted int64 // 1 + the round of its last ACCEPT
}

// An outMessage is a message being sent, until it is acknowledged or given up.
type outMessage struct {
	transport.Message
	to    *outPeer
	ready queue.Slot
	timer queue.Slot

	packets  int
	class    int // of its data's priority
	free     int // packets that need no token: all of a short message, else none
	sent     int // of these
	reached  int // packets sent at least once, if none was left out
	tokens   queue.FIFO[ticket]
	priority uint8 // of its latest token

	heard Time // when it was last sent from, or heard about
	wait  Time // silence after which it is announced again
	look  Time // when the timer is due
	tries int
}

// A ticket is a TOKEN that waits for the uplink.
type ticket struct {
	seq, offset uint32
	expires     Time
}

func (s *DCPIM) initSender() {
	s.sender = sender{
		peers:  make([]*outPeer, len(s.env.Fabric.Hosts)),
		shares: [2]share{{epoch: -1}, {epoch: -1}},
		ready:  queue.NewHeap(func(m *outMessage) *queue.Slot { return &m.ready }),
		timers: queue.NewHeap(func(m *outMessage) *queue.Slot { return &m.timer }),
	}
	s.env.Sink.Gauge("sender_channels", func() float64 { return float64(s.matched()) })
	s.env.Sink.Gauge("tokens_held", func() float64 { return float64(s.sender.tokens) })
}

func (s *DCPIM) outPeer(id transport.HostID) *outPeer {
	o := s.sender.peers[id]
	if o == nil {
		o = &outPeer{id: id}
		s.sender.peers[id] = o
	}
	return o
}

// sendMessage announces a message with an RTS. All of a short message follows
// at once (PimHost::start_flow).
func (s *DCPIM) sendMessage(now Time, msg transport.Message) {
	o := s.outPeer(msg.Peer)
	m := &outMessage{Message: msg, to: o, packets: s.packets(msg.Size), heard: now, wait: s.timing.retryAfter}
	m.class = s.params.class(m.packets, s.receiver.initial)
	o.messages.Add(m.ID, m)
	s.tell(o.id, header{kind: rts, id: m.ID})
	s.setTimer(m, now+m.wait)
	if m.packets <= s.receiver.initial {
		m.free = m.packets
		m.priority = freeData
		s.sortIn(m)
	}
}

// sortIn puts a message in its place in nextData's order.
func (s *DCPIM) sortIn(m *outMessage) {
	if m.sent == m.free && m.tokens.Len() == 0 {
		s.sender.ready.Remove(m)
		return
	}
	priority := m.priority
	if m.sent < m.free {
		priority = freeData
	}
	s.sender.ready.Set(m, Bytes(priority)<<32|Bytes(m.packets-m.reached))
}

// receiveToken keeps a token until the uplink has time for it. One for a packet
// that will be sent without a token is not needed.
func (s *DCPIM) receiveToken(now Time, h *header, peer transport.HostID) {
	o := s.outPeer(peer)
	m := o.messages.Find(h.id)
	if m == nil {
		s.noSuchMessage(o, h.id)
		return
	}
	m.answered(now)
	offset := Bytes(h.offset)
	if offset%s.mss != 0 || offset >= m.Size || int(offset/s.mss) >= m.sent && m.sent < m.free {
		return
	}
	// The header has 4 bits of the epoch: take the epoch nearest to the present
	// one.
	current, _ := s.timing.of(max(0, s.tick)/2 - s.timing.rounds)
	epoch := current + int64(int8((h.epoch-uint8(current))<<4)>>4)
	m.tokens.Push(ticket{h.seq, h.offset, s.timing.expiry(epoch)})
	s.sender.tokens++
	m.priority = max(h.priority, firstToken)
	s.sortIn(m)
}

// nextData sends the next DATA packet, if a message has one that needs no
// token, or a token for one. Tokens that have expired are dropped.
func (s *DCPIM) nextData(now Time, p *transport.Packet) bool {
	for {
		m := s.sender.ready.Top()
		if m == nil {
			return false
		}
		h := header{kind: data, id: m.ID, length: uint32(m.Size), tag: m.Tag, aboveFloor: m.to.messages.AboveFloor(m.ID)}
		if m.sent < m.free {
			h.free, h.seq, h.offset = true, uint32(m.sent), uint32(Bytes(m.sent)*s.mss)
			m.sent++
		} else {
			t, _ := m.tokens.Pop()
			s.sender.tokens--
			if t.expires < now {
				s.env.Sink.Count(&expired, 1)
				s.sortIn(m)
				continue
			}
			h.seq, h.offset = t.seq, t.offset
		}
		index := int(Bytes(h.offset) / s.mss)
		if index < m.reached {
			s.env.Sink.Count(&retransmissions, 1)
		}
		m.reached = max(m.reached, index+1)
		m.heard, m.wait = now, s.timing.retryAfter
		s.sortIn(m)
		h.encode(p)
		p.Priority = s.params.level(m.class)
		p.Peer, p.ID, p.Tag, p.Offset = m.Peer, m.ID, m.Tag, Bytes(h.offset)
		p.PayloadLen = int(min(s.mss, m.Size-p.Offset))
		return true
	}
}

var (
	expired         = transport.Counter{Name: "tokens_expired"}
	retransmissions = transport.Counter{Name: "retransmissions"}
)

// answered records that the receiver has shown that it knows m.
func (m *outMessage) answered(now Time) { m.heard, m.tries = now, 0 }

func (s *DCPIM) receiveRTSAck(now Time, h *header, peer transport.HostID) {
	if m := s.outPeer(peer).messages.Find(h.id); m != nil {
		m.answered(now)
	}
}

func (s *DCPIM) receiveAck(now Time, h *header, peer transport.HostID) {
	if m := s.outPeer(peer).messages.Find(h.id); m != nil {
		s.settle(m)
		s.env.Sink.Acked(now, m.Message)
	}
}

// settle forgets a message that was acknowledged or given up.
func (s *DCPIM) settle(m *outMessage) {
	o := m.to
	s.sender.tokens -= m.tokens.Len()
	s.sender.ready.Remove(m)
	s.sender.timers.Remove(m)
	o.messages.Settle(m.ID)
}
