package dcpim

import (
	"slices"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/timer"
	"sirdbed/topo/units"
)

// A matching is a receiver's view of one epoch's matching: the senders that it
// is matched with, and the channels from each, at most k in all.
type matching struct {
	epoch int64
	total int // channels
	open  int // of these, over which tokens go
	links []link
}

// A link is the channels from a matched sender to this receiver.
type link struct {
	peer     *inPeer
	channels int
	open     int    // of these: the prompt ones before the data phase, then all
	shortest uint32 // packets missing of its shortest message at the time of the match
	priority uint8  // of its tokens
	pacer    timer.Pacer
}

// with returns the channels from a sender.
func (m *matching) with(i *inPeer) int {
	for k := range m.links {
		if m.links[k].peer == i {
			return m.links[k].channels
		}
	}
	return 0
}

// add adds channels from a sender, some of them open from a time on, each of a rate.
func (m *matching) add(i *inPeer, channels, open int, from Time, rate units.BitsPerSecond, shortest uint32) {
	m.total += channels
	m.open += open
	at := slices.IndexFunc(m.links, func(l link) bool { return l.peer == i })
	if at < 0 {
		at = len(m.links)
		m.links = append(m.links, link{peer: i, shortest: shortest, priority: lastToken})
	}
	l := &m.links[at]
	l.channels += channels
	l.open += open
	l.pacer.Rate += rate * units.BitsPerSecond(open)
	l.pacer.Pause(from)
}

// take removes up to channels of the channels from a sender.
func (m *matching) take(i *inPeer, channels int) {
	for k := range m.links {
		l := &m.links[k]
		if l.peer != i {
			continue
		}
		n := min(channels, l.channels)
		m.total -= n
		if shut := l.open - min(l.open, l.channels-n); shut > 0 {
			l.pacer.Rate -= l.pacer.Rate / units.BitsPerSecond(l.open) * units.BitsPerSecond(shut)
			l.open -= shut
			m.open -= shut
		}
		if l.channels -= n; l.channels == 0 {
			m.links = slices.Delete(m.links, k, k+1)
		}
		return
	}
}

func (m *matching) reset(epoch int64) {
	clear(m.links)
	m.epoch, m.total, m.open, m.links = epoch, 0, 0, m.links[:0]
}

// A channelOffer is a sender's GRANT, kept until the round ends.
type channelOffer struct {
	peer      *inPeer
	id        transport.MessageID
	remaining uint32
	channels  int
	prompt    int // of these, idle at the sender until the data phase
}

// beginRound accepts what was granted in the round before, begins the data phase
// if that was the last of a matching, and requests channels of this round's
// matching, unless the round is over already: then it is not current.
func (s *DCPIM) beginRound(round int64, current bool) {
	r := &s.receiver
	if round > 0 {
		if epoch, n := s.timing.of(round - 1); n < s.timing.rounds {
			s.acceptGrants(round-1, epoch, n)
			if n == s.timing.rounds-1 {
				s.beginPhase(epoch)
			}
		}
	}
	clear(r.grants)
	r.grants = r.grants[:0]
	epoch, n := s.timing.of(round)
	if n >= s.timing.rounds {
		return
	}
	if r.building.epoch != epoch {
		r.building.reset(epoch)
	}
	if current {
		s.requestAll(round)
	}
}

// requestAll requests, from every sender with messages that wait for tokens, as
// many channels as its shortest message fills in a data phase (README, Matching;
// PimEpoch::send_all_req).
func (s *DCPIM) requestAll(round int64) {
	r := &s.receiver
	for k := 0; k < len(r.activeSenders); {
		i := r.activeSenders[k]
		m := i.ungranted.Top()
		if m == nil {
			i.active = false
			r.activeSenders[k] = r.activeSenders[len(r.activeSenders)-1]
			r.activeSenders = r.activeSenders[:len(r.activeSenders)-1]
			continue
		}
		k++
		free := s.params.Channels - r.building.total
		missing := s.packets(m.left())
		need := (missing+s.timing.channelPackets-1)/s.timing.channelPackets - r.active.with(i) - r.building.with(i)
		if need = min(need, free); need > 0 {
			s.queueControl(i.id, header{
				kind: request, id: m.ID, round: uint32(round), channels: uint8(need),
				prompt: uint8(min(need, s.idleChannels())), remaining: uint32(missing),
			})
		}
	}
}

// receiveGrant keeps a grant until the round ends.
func (s *DCPIM) receiveGrant(h *header, peer transport.HostID) {
	r := &s.receiver
	i := r.peers[peer]
	round := s.roundOf(h)
	if i == nil || h.channels == 0 || s.halfRound != 2*round && s.halfRound != 2*round+1 {
		s.env.Sink.Count(&late, 1)
		return
	}
	for k := range r.grants {
		if r.grants[k].peer == i {
			return // a duplicate
		}
	}
	r.grants = append(r.grants, channelOffer{i, h.id, h.remaining, int(h.channels), int(h.prompt)})
}

var late = transport.Counter{Name: "matching_packets_late"}

// acceptGrants accepts grants while channels are free: in the first rounds
// those for the shortest messages first, then in random order (README,
// Matching; PimEpoch::handle_all_grants).
func (s *DCPIM) acceptGrants(round, epoch, n int64) {
	r := &s.receiver
	if len(r.grants) == 0 || r.building.epoch != epoch {
		return
	}
	shuffle(&s.env, r.grants) // which orders equal ones below
	if n < int64(s.params.SelectMinRounds) {
		slices.SortStableFunc(r.grants,
			func(a, b channelOffer) int { return int(int64(a.remaining) - int64(b.remaining)) })
	}
	for _, g := range r.grants {
		take := min(g.channels, s.params.Channels-r.building.total)
		if take == 0 {
			break
		}
		if g.peer.ungranted.Len() == 0 {
			continue // finished in the meantime
		}
		prompt := min(g.prompt, take, s.idleChannels())
		r.building.add(g.peer, take, prompt, s.halfRoundBegan(), s.channelRate(), g.remaining)
		s.queueControl(g.peer.id, header{
			kind: accept, id: g.id, round: uint32(round), channels: uint8(take), prompt: uint8(prompt),
		})
	}
}

// idleChannels returns how many of this receiver's channels nobody uses until the next
// data phase (README, Prompt links).
func (s *DCPIM) idleChannels() int {
	if !s.params.PromptLinks {
		return 0
	}
	return max(0, s.params.Channels-s.receiver.active.total-s.receiver.building.open)
}

// channelRate returns the rate of one channel.
func (s *DCPIM) channelRate() units.BitsPerSecond {
	return s.receiver.rate / units.BitsPerSecond(s.params.Channels)
}

// beginPhase begins the data phase of an epoch. Tokens to the sender with the
// shortest message have the first priority.
func (s *DCPIM) beginPhase(epoch int64) {
	r := &s.receiver
	r.active, r.building = r.building, r.active
	if r.active.epoch != epoch {
		r.active.reset(epoch)
	}
	r.building.reset(epoch + 1)
	slices.SortStableFunc(r.active.links, func(a, b link) int { return int(int64(a.shortest) - int64(b.shortest)) })
	r.active.open = r.active.total
	priority := firstToken
	for k := range r.active.links {
		l := &r.active.links[k]
		l.priority, l.open = uint8(priority), l.channels
		priority += l.channels
		l.pacer = timer.Pacer{Rate: s.channelRate() * units.BitsPerSecond(l.channels)}
		l.pacer.Pause(s.halfRoundBegan())
	}
}

// receiveGrantSR gives up the channels that the sender cannot serve
// (PimEpoch::receive_grantsr).
func (s *DCPIM) receiveGrantSR(h *header, peer transport.HostID) {
	r := &s.receiver
	i := r.peers[peer]
	round := s.roundOf(h)
	if i == nil || round < 0 || i.takeBackRound == round+1 {
		return
	}
	switch epoch, _ := s.timing.of(round); epoch {
	case r.building.epoch:
		r.building.take(i, int(h.channels))
	case r.active.epoch:
		r.active.take(i, int(h.channels))
	default:
		return
	}
	i.takeBackRound = round + 1
	s.env.Sink.Count(&takenBack, int(h.channels))
}

var takenBack = transport.Counter{Name: "channels_taken_back"}
