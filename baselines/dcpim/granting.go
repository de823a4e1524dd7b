package dcpim

import (
	"slices"

	"sirdbed/sirdnode/transport"
)

// A channelRequest is a receiver's REQUEST, kept until the middle of the round.
type channelRequest struct {
	peer      transport.HostID
	id        transport.MessageID
	remaining uint32
	channels  int
	prompt    int // of these, idle at the receiver until the data phase
}

// acceptedChannels is a sender's view of one epoch's matching: how many of its
// channels receivers have accepted.
type acceptedChannels struct {
	epoch    int64
	channels int
	prompt   int // of these, whose tokens begin to come before the data phase
}

// acceptedIn returns the accepted channels of an epoch, nil if it is too old. There
// are two: the epoch in its data phase, and the one being negotiated.
func (s *sender) acceptedIn(epoch int64) *acceptedChannels {
	r := &s.accepted[epoch&1]
	if r.epoch < epoch {
		*r = acceptedChannels{epoch: epoch}
	}
	if r.epoch != epoch {
		return nil
	}
	return r
}

// receiveRequest keeps a REQUEST until the middle of its round.
func (s *DCPIM) receiveRequest(now Time, h *header, peer transport.HostID) {
	o := s.outPeer(peer)
	m := o.messages.Find(h.id)
	if m == nil {
		s.sendGone(o, h.id)
		return
	}
	m.confirm(now)
	round := s.roundOf(h)
	if h.channels == 0 || s.halfRound != 2*round && s.halfRound != 2*round-1 {
		s.env.Sink.Count(&late, 1)
		return
	}
	for k := range s.sender.requests {
		if s.sender.requests[k].peer == peer {
			return // a duplicate
		}
	}
	s.sender.requests = append(s.sender.requests, channelRequest{
		peer: peer, id: h.id, remaining: h.remaining, channels: int(h.channels), prompt: int(h.prompt),
	})
}

// grantAll answers the round's requests while channels are free: in the first
// rounds those of the shortest messages first, then in random order (README,
// Matching; PimEpoch::handle_all_req). What is granted and not accepted is free
// again in the next round.
func (s *DCPIM) grantAll(round int64) {
	requests := s.sender.requests
	s.sender.requests = requests[:0]
	epoch, n := s.timing.of(round)
	if len(requests) == 0 || n >= s.timing.rounds {
		return
	}
	accepted := s.sender.acceptedIn(epoch)
	if accepted == nil {
		return
	}
	shuffle(&s.env, requests)
	if n < int64(s.params.SelectMinRounds) {
		slices.SortStableFunc(requests,
			func(a, b channelRequest) int { return int(int64(a.remaining) - int64(b.remaining)) })
	}
	free, idle := s.params.Channels-accepted.channels, s.idleToSend(epoch)
	for _, w := range requests {
		n := min(free, w.channels)
		if n == 0 {
			break
		}
		free -= n
		prompt := min(n, idle, w.prompt)
		idle -= prompt
		s.queueControl(w.peer, header{
			kind: grant, id: w.id, round: uint32(round), channels: uint8(n), prompt: uint8(prompt),
			remaining: w.remaining,
		})
	}
}

// idleToSend returns how many of this sender's channels nobody uses until the data
// phase of an epoch (README, Prompt links).
func (s *DCPIM) idleToSend(epoch int64) int {
	if !s.params.PromptLinks {
		return 0
	}
	used := 0
	if before := s.sender.acceptedIn(epoch - 1); before != nil {
		used = before.channels
	}
	if next := s.sender.acceptedIn(epoch); next != nil {
		used += next.prompt
	}
	return max(0, s.params.Channels-used)
}

// receiveAccept counts matched channels. Those above k are taken back with a
// GRANTSR: an ACCEPT that comes after the grants of the next round can bring too
// many (PimEpoch::receive_accept_pkt).
func (s *DCPIM) receiveAccept(h *header, peer transport.HostID) {
	o := s.outPeer(peer)
	round := s.roundOf(h)
	epoch, n := s.timing.of(round)
	current := s.halfRound / 2
	if round < 0 || round > current || current-round > 2*s.timing.period || n >= s.timing.rounds {
		s.env.Sink.Count(&late, 1)
		return
	}
	accepted := s.sender.acceptedIn(epoch)
	if accepted == nil || o.acceptRound == round+1 {
		return
	}
	o.acceptRound = round + 1
	fits := min(int(h.channels), s.params.Channels-accepted.channels)
	accepted.channels += fits
	accepted.prompt += min(int(h.prompt), fits)
	if over := int(h.channels) - fits; over > 0 {
		s.queueControl(peer, header{kind: grantsr, id: h.id, round: uint32(round), channels: uint8(over)})
	}
}

// matchedChannels returns the channels of the present data phase, as far as this
// sender knows.
func (s *DCPIM) matchedChannels() int {
	round := max(0, s.halfRound)/2 - s.timing.rounds
	epoch, _ := s.timing.of(round)
	if r := &s.sender.accepted[epoch&1]; round >= 0 && r.epoch == epoch {
		return r.channels
	}
	return 0
}
