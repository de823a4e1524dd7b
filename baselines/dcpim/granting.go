package dcpim

import (
	"slices"

	"sirdbed/sirdnode/transport"
)

// A wish is a receiver's REQUEST, until the sender grants in the middle of the
// round.
type wish struct {
	peer      transport.HostID
	id        transport.MessageID
	remaining uint32
	channels  int
}

// A share is a sender's view of one epoch's matching: how many of its channels
// receivers have accepted.
type share struct {
	epoch    int64
	accepted int
}

// of returns the record of an epoch, nil if it is too old. There are two: the
// epoch in its data phase, and the one being negotiated.
func (s *sender) of(epoch int64) *share {
	r := &s.shares[epoch&1]
	if r.epoch < epoch {
		*r = share{epoch: epoch}
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
		s.noSuchMessage(o, h.id)
		return
	}
	m.answered(now)
	round := s.roundOf(h)
	if h.channels == 0 || s.tick != 2*round && s.tick != 2*round-1 {
		s.env.Sink.Count(&late, 1)
		return
	}
	for k := range s.sender.requests {
		if s.sender.requests[k].peer == peer {
			return // a duplicate
		}
	}
	s.sender.requests = append(s.sender.requests, wish{peer, h.id, h.remaining, int(h.channels)})
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
	record := s.sender.of(epoch)
	if record == nil {
		return
	}
	shuffle(&s.env, requests)
	if n < int64(s.params.SelectMinRounds) {
		slices.SortStableFunc(requests, func(a, b wish) int { return int(int64(a.remaining) - int64(b.remaining)) })
	}
	free := s.params.Channels - record.accepted
	for _, w := range requests {
		give := min(free, w.channels)
		if give == 0 {
			break
		}
		free -= give
		s.tell(w.peer, header{
			kind: grant, id: w.id, round: uint32(round), channels: uint8(give), remaining: w.remaining,
		})
	}
}

// receiveAccept counts matched channels. Those above k are taken back with a
// GRANTSR: an ACCEPT that comes after the grants of the next round can make
// them too many (PimEpoch::receive_accept_pkt).
func (s *DCPIM) receiveAccept(h *header, peer transport.HostID) {
	o := s.outPeer(peer)
	round := s.roundOf(h)
	epoch, n := s.timing.of(round)
	if current := s.tick / 2; round < 0 || round > current || current-round > 2*s.timing.period || n >= s.timing.rounds {
		s.env.Sink.Count(&late, 1)
		return
	}
	record := s.sender.of(epoch)
	if record == nil || o.accepted == round+1 {
		return
	}
	o.accepted = round + 1
	fits := min(int(h.channels), s.params.Channels-record.accepted)
	record.accepted += fits
	if over := int(h.channels) - fits; over > 0 {
		s.tell(peer, header{kind: grantsr, id: h.id, round: uint32(round), channels: uint8(over)})
	}
}

// matched returns the channels of the present data phase as this sender knows
// them.
func (s *DCPIM) matched() int {
	round := max(0, s.tick)/2 - s.timing.rounds
	epoch, _ := s.timing.of(round)
	if r := &s.sender.shares[epoch&1]; round >= 0 && r.epoch == epoch {
		return r.accepted
	}
	return 0
}
