package dcpim

import (
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/transport/queue"
	"sirdbed/topo/units"
)

// receiver is the receiving half of a host.
type receiver struct {
	peers    []*inPeer // by HostID, nil until met
	wanting  []*inPeer // those with messages that want tokens
	grants   []offer   // of this round
	building matching  // being negotiated
	active   matching  // that tokens go by

	rate        units.BitsPerSecond
	initial     int                   // packets of the longest short message
	window      int64                 // tokens of a message that may be unanswered
	hold        int                   // tokens to be left out for a short message
	holdUntil   Time                  // by when it should be here
	outstanding int64                 // packets asked for, or of short messages, that have not arrived
	resting     queue.Heap[inMessage] // by the end of their rest
	silent      queue.Heap[inMessage] // by when they are forgotten, if nothing is heard of them
}

// An inPeer is a receiver's state for one sender.
type inPeer struct {
	id     transport.HostID
	listed bool // in receiver.wanting

	messages account.Incoming[inMessage]
	want     queue.Heap[inMessage] // messages that want tokens, by bytes missing

	takenBack int64 // 1 + the round of the last GRANTSR
}

// An inMessage is a message being received, until it is complete.
type inMessage struct {
	transport.Message
	from *inPeer
	slot queue.Slot // in from.want, or in receiver.resting

	got      account.Spans // payload that has arrived
	cursor   Bytes         // tokens have been sent for what is missing below
	tokens   int64         // tokens sent, counting those that a short message did not need
	heardSeq int64         // the latest of them that a data packet has answered
	tokenAt  Time          // when the last token was sent
	resting  bool          // waits for packets that it need not ask for now
	until    Time          // end of its rest
	again    bool          // tokens have been sent for all of it before

	heard  Time       // when something of it last arrived
	silent queue.Slot // in receiver.silent
	forget Time       // when to look whether it has fallen silent
}

// left returns the payload still to arrive.
func (m *inMessage) left() Bytes { return m.Size - m.got.Total() }

// gap returns the number of tokens that may still be answered
// (PimFlow::token_gap).
func (m *inMessage) gap() int64 { return m.tokens - 1 - m.heardSeq }

func (s *DCPIM) initReceiver(rate units.BitsPerSecond) {
	slot := func(m *inMessage) *queue.Slot { return &m.slot }
	s.receiver = receiver{
		peers:   make([]*inPeer, len(s.env.Fabric.Hosts)),
		rate:    rate,
		initial: int(s.params.TokenInitial * float64(s.timing.bdp)),
		window:  max(1, int64(s.params.TokenWindow*float64(s.timing.bdp))),
		resting: queue.NewHeap(slot),
		silent:  queue.NewHeap(func(m *inMessage) *queue.Slot { return &m.silent }),
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
			id:       id,
			messages: account.NewIncoming[inMessage](),
			want:     queue.NewHeap(func(m *inMessage) *queue.Slot { return &m.slot }),
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
		s.tell(i.id, header{kind: rtsAck, id: m.ID})
	}
}

// findMessage returns the message of an RTS or DATA packet, which it creates if
// the message is unknown. It returns nil if the message has been delivered
// before, and then acknowledges it, or if the packet makes no sense.
func (s *DCPIM) findMessage(now Time, i *inPeer, h *header) *inMessage {
	m := i.messages.Find(h.id)
	switch {
	case h.length == 0 || Bytes(h.length) > s.mss*maxPackets:
		return nil
	case m == nil && i.messages.IsDone(h.id):
		s.tell(i.id, header{kind: ack, id: h.id})
		return nil
	case m == nil:
		m = s.newInMessage(now, i, h)
	case m.Size != Bytes(h.length):
		return nil
	}
	m.heard = now
	return m
}

// newInMessage makes the state for a message: a short one is already being
// sent, and joins the matching if it does not arrive in time; a long one joins
// at once (README, Short messages; PimHost::receive_rts,
// PimFlow::receive_short_flow).
func (s *DCPIM) newInMessage(now Time, i *inPeer, h *header) *inMessage {
	r := &s.receiver
	m := &inMessage{from: i, heardSeq: -1}
	m.ID, m.Tag, m.Peer, m.Size = h.id, h.tag, i.id, Bytes(h.length)
	i.messages.Add(m.ID, m)
	m.forget = now + s.timing.abandonAfter
	r.silent.Set(m, Bytes(m.forget))
	n := s.packets(m.Size)
	if n > r.initial {
		s.wantTokens(m)
		return m
	}
	m.tokens = int64(n)
	r.outstanding += m.tokens
	s.rest(m, now+Time(n)*s.timing.packet+s.timing.resendAfter)
	if s.params.TokenHold {
		r.hold, r.holdUntil = n, m.until
	}
	return m
}

// wantTokens puts a message where requests and tokens find it, or moves it
// there.
func (s *DCPIM) wantTokens(m *inMessage) {
	m.from.want.Set(m, m.left())
	if !m.from.listed {
		m.from.listed = true
		s.receiver.wanting = append(s.receiver.wanting, m.from)
	}
}

func (s *DCPIM) receiveData(now Time, h *header, p *transport.Packet) {
	i := s.inPeer(p.Peer)
	from, n := Bytes(h.offset), Bytes(p.PayloadLen)
	if from%s.mss != 0 || from >= Bytes(h.length) || n != min(s.mss, Bytes(h.length)-from) {
		return // inconsistent
	}
	i.messages.RaiseFloor(h.id, h.aboveFloor, s.abandon)
	m := s.findMessage(now, i, h)
	if m == nil {
		return
	}
	if seq := int64(h.seq); seq > m.heardSeq && seq < m.tokens {
		s.receiver.outstanding -= seq - m.heardSeq
		m.heardSeq = seq
	}
	if m.got.Add(from, from+n) == 0 {
		s.env.Sink.Count(&duplicates, 1)
		return
	}
	s.env.Sink.Data(now, m.Message, from, int(n), p.Payload)
	switch {
	case m.left() == 0:
		i.messages.Done(m.ID)
		s.drop(m)
		s.tell(i.id, header{kind: ack, id: m.ID})
		s.env.Sink.Delivered(now, m.Message)
	case !m.resting:
		s.wantTokens(m)
	}
}

var duplicates = transport.Counter{Name: "duplicate_data"}

// drop forgets a message that is complete or given up.
func (s *DCPIM) drop(m *inMessage) {
	r := &s.receiver
	r.outstanding -= m.gap()
	m.from.want.Remove(m)
	r.resting.Remove(m)
	r.silent.Remove(m)
	m.from.messages.Forget(m.ID)
}
