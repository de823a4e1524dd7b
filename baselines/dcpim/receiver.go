package dcpim

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/topo/units"
)

// receiver is the receiving role of a host.
type receiver struct {
	peers         []*inPeer      // by HostID, nil before their first packets
	activeSenders []*inPeer      // those with messages that need more tokens
	grants        []channelOffer // of this round
	building      matching       // of the next data phase
	active        matching       // of the present one: its senders get tokens

	rate         units.BitsPerSecond
	shortPackets int                   // packets of the longest short message
	tokenWindow  int64                 // most tokens of a message that may be unanswered
	skip         int                   // tokens to be left out for a short message
	skipUntil    Time                  // by when it should have arrived
	outstanding  int64                 // packets with tokens, or of short messages, that have not arrived
	resting      queue.Heap[inMessage] // by restUntil
	timers       queue.Heap[inMessage] // by checkAt
	spare        queue.Free[inMessage]
}

// An inPeer is what a receiver knows of one sender.
type inPeer struct {
	id     transport.HostID
	active bool // in receiver.activeSenders

	messages  account.Incoming[inMessage]
	ungranted queue.Heap[inMessage] // messages that need more tokens, by bytes missing

	takeBackRound int64 // 1 + the round of the last GRANTSR
}

// An inMessage is a message on its way in.
type inMessage struct {
	transport.Message
	from *inPeer
	slot queue.Slot // in from.ungranted, or in receiver.resting

	received    account.Spans // payload that has arrived
	cursor      Bytes         // tokens have been sent for what is missing below
	tokens      int64         // tokens sent, and packets of a short message, which need none
	answeredSeq int64         // the latest of them that was answered with data
	tokenAt     Time          // when the last token was sent
	resting     bool          // waits for packets that have tokens, or need none
	restUntil   Time          // end of its rest
	repeated    bool          // it has rested, so that tokens are sent again

	lastProgress Time       // when a packet of it last arrived
	timer        queue.Slot // in receiver.timers
	checkAt      Time       // when to check whether to abandon it
}

// left returns the payload still to arrive.
func (m *inMessage) left() Bytes { return m.Size - m.received.Total() }

// outstanding returns the number of tokens that may still be answered with data
// (PimFlow::token_gap).
func (m *inMessage) outstanding() int64 { return m.tokens - 1 - m.answeredSeq }

func (s *DCPIM) initReceiver(rate units.BitsPerSecond) {
	slot := func(m *inMessage) *queue.Slot { return &m.slot }
	s.receiver = receiver{
		peers:        make([]*inPeer, len(s.env.Fabric.Hosts)),
		rate:         rate,
		shortPackets: int(s.params.TokenInitial * float64(s.timing.bdp)),
		tokenWindow:  max(1, int64(s.params.TokenWindow*float64(s.timing.bdp))),
		resting:      queue.NewHeap(slot),
		timers:       queue.NewHeap(func(m *inMessage) *queue.Slot { return &m.timer }),
		// No epoch has been matched yet.
		building: matching{epoch: -1}, active: matching{epoch: -1},
	}
	s.env.Sink.Gauge("receiver_channels", func() float64 { return float64(s.receiver.active.total) })
	s.env.Sink.Gauge("tokens_outstanding", func() float64 { return float64(s.receiver.outstanding) })
}

// packets returns the number of packets that carry n bytes of a message.
func (s *DCPIM) packets(n Bytes) int { return int((n + s.mss - 1) / s.mss) }

func (s *DCPIM) inPeer(id transport.HostID) *inPeer {
	i := s.receiver.peers[id]
	if i == nil {
		i = &inPeer{
			id:        id,
			messages:  account.NewIncoming[inMessage](),
			ungranted: queue.NewHeap(func(m *inMessage) *queue.Slot { return &m.slot }),
		}
		s.receiver.peers[id] = i
	}
	return i
}

// receiveRTS takes the announcement of a message, and answers that it is known
// or complete.
func (s *DCPIM) receiveRTS(now Time, h *header, peer transport.HostID) {
	i := s.inPeer(peer)
	i.messages.RaiseFloor(h.id, h.aboveFloor, s.abandon)
	if m := s.findMessage(now, i, h); m != nil {
		s.queueControl(i.id, header{kind: rtsAck, id: m.ID})
	}
}

// findMessage returns the message of an RTS or DATA packet, new if it is unknown.
// It returns nil for a message that was delivered before, which it acknowledges
// again, and for a malformed packet.
func (s *DCPIM) findMessage(now Time, i *inPeer, h *header) *inMessage {
	m := i.messages.Find(h.id)
	switch {
	case h.length == 0 || Bytes(h.length) > s.mss*maxPackets:
		return nil
	case m == nil && i.messages.IsDone(h.id):
		s.queueControl(i.id, header{kind: ack, id: h.id})
		return nil
	case m == nil:
		m = s.newInMessage(now, i, h)
	case m.Size != Bytes(h.length):
		return nil
	}
	m.lastProgress = now
	return m
}

// newInMessage begins a message. A short one is already being sent, and joins the
// matching only if it does not arrive in time; a long one joins at once (README,
// Short messages; PimHost::receive_rts, PimFlow::receive_short_flow).
func (s *DCPIM) newInMessage(now Time, i *inPeer, h *header) *inMessage {
	r := &s.receiver
	m := r.spare.Get()
	received := m.received
	received.Reset()
	*m = inMessage{from: i, answeredSeq: -1, received: received}
	m.ID, m.Tag, m.Peer, m.Size = h.id, h.tag, i.id, Bytes(h.length)
	i.messages.Add(m.ID, m)
	m.checkAt = now + s.timing.abandonTimeout
	r.timers.Set(m, Bytes(m.checkAt))
	n := s.packets(m.Size)
	if n > r.shortPackets {
		s.activate(m)
		return m
	}
	m.tokens = int64(n)
	r.outstanding += m.tokens
	s.rest(m, now+Time(n)*s.timing.packet+s.timing.resendTimeout)
	if s.params.SkipTokens {
		r.skip, r.skipUntil = n, m.restUntil
	}
	return m
}

// activate puts a message where requests and tokens find it, by the bytes that are
// missing, or moves it there.
func (s *DCPIM) activate(m *inMessage) {
	m.from.ungranted.Set(m, m.left())
	if !m.from.active {
		m.from.active = true
		s.receiver.activeSenders = append(s.receiver.activeSenders, m.from)
	}
}

func (s *DCPIM) receiveData(now Time, h *header, p *transport.Packet) {
	i := s.inPeer(p.Peer)
	from := Bytes(h.offset)
	n := min(s.mss, Bytes(h.length)-from)
	if full := Bytes(p.PayloadLen); from%s.mss != 0 || n <= 0 || full != n && full != s.mss {
		return // malformed
	}
	payload := p.Payload
	if payload != nil {
		payload = payload[:n] // the rest fills up a packet: see Params.FullPackets
	}
	i.messages.RaiseFloor(h.id, h.aboveFloor, s.abandon)
	m := s.findMessage(now, i, h)
	if m == nil {
		return
	}
	if seq := int64(h.seq); seq > m.answeredSeq && seq < m.tokens {
		s.receiver.outstanding -= seq - m.answeredSeq
		m.answeredSeq = seq
	}
	if m.received.Add(from, from+n) == 0 {
		s.env.Sink.Count(&duplicates, 1)
		return
	}
	s.env.Sink.Data(now, m.Message, from, int(n), payload)
	switch {
	case m.left() == 0:
		i.messages.Done(m.ID)
		s.forget(m)
		s.queueControl(i.id, header{kind: ack, id: m.ID})
		s.env.Sink.Delivered(now, m.Message)
	case !m.resting:
		s.activate(m)
	}
}

var duplicates = transport.Counter{Name: "duplicate_data"}

// forget drops the state of a message that is complete or abandoned, which stays as it is until
// another one begins.
func (s *DCPIM) forget(m *inMessage) {
	r := &s.receiver
	r.outstanding -= m.outstanding()
	m.from.ungranted.Remove(m)
	r.resting.Remove(m)
	r.timers.Remove(m)
	m.from.messages.Forget(m.ID)
	r.spare.Put(m)
}
