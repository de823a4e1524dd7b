package dcpim

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
)

// sender is the sending role of a host.
type sender struct {
	peers    []*outPeer          // by HostID, nil until needed
	requests []channelRequest    // of this round
	accepted [2]acceptedChannels // by epoch modulo 2

	ready  queue.Heap[outMessage] // messages that may send: by token priority, then fewest packets left
	timers queue.Heap[outMessage] // by checkAt
	order  releasedOrder          // the packets that may be sent, if released_order
	tokens int                    // held tokens, over all messages
	spare  queue.Free[outMessage]
}

// An outPeer is what a sender knows of one receiver.
type outPeer struct {
	id       transport.HostID
	messages account.Outgoing[*outMessage]

	acceptRound int64 // 1 + the round of its last ACCEPT
}

// An outMessage is a message on its way out, until it is acknowledged or has
// failed.
type outMessage struct {
	transport.Message
	to    *outPeer
	ready queue.Slot
	timer queue.Slot

	packets     int
	class       int // of its data's priority
	unscheduled int // packets that need no token: all of a short message, else none
	sent        int // of these
	reached     int // packets sent at least once, if none was left out
	tokens      queue.FIFO[heldToken]
	priority    uint8 // of its latest token

	lastActivity Time // when it was last sent from, announced or confirmed
	timeout      Time // after which it is announced again
	checkAt      Time // when to check that
	attempts     int  // announcements since it was last confirmed
}

// A heldToken waits for the uplink.
type heldToken struct {
	seq, offset uint32
	expires     Time
}

func (s *DCPIM) initSender() {
	s.sender = sender{
		peers:    make([]*outPeer, len(s.env.Fabric.Hosts)),
		accepted: [2]acceptedChannels{{epoch: -1}, {epoch: -1}},
		ready:    queue.NewHeap(func(m *outMessage) *queue.Slot { return &m.ready }),
		timers:   queue.NewHeap(func(m *outMessage) *queue.Slot { return &m.timer }),
	}
	s.env.Sink.Gauge("sender_channels", func() float64 { return float64(s.matchedChannels()) })
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
	m := s.sender.spare.Get()
	tokens := m.tokens
	tokens.Reset()
	*m = outMessage{
		Message: msg, to: o, packets: s.packets(msg.Size), lastActivity: now, timeout: s.timing.announceTimeout,
		tokens: tokens,
	}
	m.class = s.params.class(m.packets, s.receiver.shortPackets)
	o.messages.Add(m.ID, m)
	s.queueControl(o.id, header{kind: rts, id: m.ID})
	s.setTimer(m, now+m.timeout)
	if m.packets <= s.receiver.shortPackets {
		m.unscheduled = m.packets
		m.priority = unscheduledData
		for range m.packets {
			s.mayNext(m)
		}
		s.enqueue(now, m)
	}
}

// enqueue puts a message where nextData finds it, or removes it from there.
func (s *DCPIM) enqueue(now Time, m *outMessage) {
	if m.sent == m.unscheduled && m.tokens.Len() == 0 {
		s.sender.ready.Remove(m)
		if !m.timer.In() {
			s.setTimer(m, now+m.timeout)
		}
		return
	}
	priority := m.priority
	if m.sent < m.unscheduled {
		priority = unscheduledData
	}
	s.sender.ready.Set(m, Bytes(priority)<<32|Bytes(m.packets-m.reached))
}

// receiveToken keeps a token until the uplink is free for it. A token for a packet
// that will be sent without one is ignored.
func (s *DCPIM) receiveToken(now Time, h *header, peer transport.HostID) {
	o := s.outPeer(peer)
	m := o.messages.Find(h.id)
	if m == nil {
		s.sendGone(o, h.id)
		return
	}
	m.confirm(now)
	offset := Bytes(h.offset)
	if offset%s.mss != 0 || offset >= m.Size || int(offset/s.mss) >= m.sent && m.sent < m.unscheduled {
		return
	}
	// The header has 4 bits of the epoch: it is the one nearest to the present.
	current, _ := s.timing.of(max(0, s.halfRound)/2 - s.timing.rounds)
	epoch := current + int64(int8((h.epoch-uint8(current))<<4)>>4)
	m.tokens.Push(heldToken{h.seq, h.offset, s.timing.expiry(epoch)})
	s.sender.tokens++
	m.priority = max(h.priority, firstToken)
	s.mayNext(m)
	s.enqueue(now, m)
}

// nextData sends the next DATA packet, if a message has one that needs no token,
// or a token for one. Expired tokens are discarded.
func (s *DCPIM) nextData(now Time, p *transport.Packet) bool {
	for {
		m := s.next()
		if m == nil {
			return false
		}
		h := header{kind: data, id: m.ID, length: uint32(m.Size), tag: m.Tag,
			aboveFloor: m.to.messages.AboveFloor(m.ID)}
		if m.sent < m.unscheduled {
			h.unscheduled, h.seq, h.offset = true, uint32(m.sent), uint32(Bytes(m.sent)*s.mss)
			m.sent++
		} else {
			t, _ := m.tokens.Pop()
			s.sender.tokens--
			if t.expires < now {
				s.env.Sink.Count(&expired, 1)
				s.enqueue(now, m)
				continue
			}
			h.seq, h.offset = t.seq, t.offset
		}
		index := int(Bytes(h.offset) / s.mss)
		if index < m.reached {
			s.env.Sink.Count(&retransmissions, 1)
		}
		m.reached = max(m.reached, index+1)
		m.lastActivity, m.timeout = now, s.timing.announceTimeout
		s.enqueue(now, m)
		h.encode(p)
		p.Priority = s.params.level(m.class)
		p.Peer, p.ID, p.Tag, p.Offset = m.Peer, m.ID, m.Tag, Bytes(h.offset)
		p.PayloadLen = int(min(s.mss, m.Size-p.Offset))
		if s.params.FullPackets {
			p.PayloadLen = int(s.mss)
		}
		return true
	}
}

var (
	expired         = transport.Counter{Name: "tokens_expired"}
	retransmissions = transport.Counter{Name: "retransmissions"}
)

// confirm notes that the receiver knows the message.
func (m *outMessage) confirm(now Time) { m.lastActivity, m.attempts = now, 0 }

func (s *DCPIM) receiveRTSAck(now Time, h *header, peer transport.HostID) {
	if m := s.outPeer(peer).messages.Find(h.id); m != nil {
		m.confirm(now)
	}
}

func (s *DCPIM) receiveAck(now Time, h *header, peer transport.HostID) {
	if m := s.outPeer(peer).messages.Find(h.id); m != nil {
		s.settle(m)
		s.env.Sink.Acked(now, m.Message)
	}
}

// settle forgets a message that was acknowledged or has failed. Its state stays as it is until
// another one begins.
func (s *DCPIM) settle(m *outMessage) {
	o := m.to
	s.sender.tokens -= m.tokens.Len()
	s.sender.ready.Remove(m)
	s.sender.timers.Remove(m)
	o.messages.Settle(m.ID)
	s.sender.spare.Put(m)
}
