package dcpim

import (
	"errors"
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/headertest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Idle is Leaks as an error, for modeltest.
func (s *DCPIM) Idle() error {
	if leak := s.Leaks() + s.Broken(); leak != "" {
		return errors.New(leak)
	}
	return nil
}

// Leaks describes state that is left at either half of a host when no message
// is under way; "" when none is.
func (s *DCPIM) Leaks() string {
	r, o := &s.receiver, &s.sender
	switch {
	case o.tokens != 0:
		return fmt.Sprintf("sender holds %d tokens", o.tokens)
	case o.ready.Len()+o.timers.Len()+len(o.requests) != 0:
		return fmt.Sprintf("sender has %d messages to send, %d timers, %d requests", o.ready.Len(), o.timers.Len(),
			len(o.requests))
	case r.outstanding != 0:
		return fmt.Sprintf("receiver counts %d tokens outstanding", r.outstanding)
	case r.resting.Len()+r.timers.Len()+len(r.grants) != 0:
		return fmt.Sprintf("receiver has %d messages resting, %d watched, %d grants", r.resting.Len(), r.timers.Len(),
			len(r.grants))
	case len(r.active.links)+r.active.total+len(r.building.links)+r.building.total != 0:
		return fmt.Sprintf("receiver is matched: %d channels, and %d next", r.active.total, r.building.total)
	case s.ControlQueue() != 0:
		return fmt.Sprintf("%d control packets wait", s.ControlQueue())
	}
	for _, p := range o.peers {
		if p != nil && p.messages.Len() != 0 {
			return fmt.Sprintf("%d messages to %d", p.messages.Len(), p.id)
		}
	}
	for _, p := range r.peers {
		if p != nil && (p.messages.Len() != 0 || p.ungranted.Len() != 0) {
			return fmt.Sprintf("%d messages from %d, %d want tokens", p.messages.Len(), p.id, p.ungranted.Len())
		}
	}
	return ""
}

// Broken describes a sum that does not add up, which no packet may cause; ""
// when all sums do.
func (s *DCPIM) Broken() string {
	r := &s.receiver
	for name, m := range map[string]*matching{"active": &r.active, "building": &r.building} {
		total, open := 0, 0
		for _, l := range m.links {
			total += l.channels
			open += l.open
			if l.open < 0 || l.open > l.channels || name == "active" && l.open != l.channels {
				return fmt.Sprintf("%s: %d of %d channels open to %d", name, l.open, l.channels, l.peer.id)
			}
			if l.channels < 1 || l.pacer.Rate < 0 {
				return fmt.Sprintf("%s: %d channels at %v to %d", name, l.channels, l.pacer.Rate, l.peer.id)
			}
		}
		if total != m.total || open != m.open || total > s.params.Channels {
			return fmt.Sprintf("%s: %d channels by link, %d in all", name, total, m.total)
		}
	}
	outstanding, tokens := int64(0), 0
	for _, p := range r.peers {
		if p == nil {
			continue
		}
		for m := range p.messages.All() {
			outstanding += m.outstanding()
			if m.outstanding() < 0 || m.left() <= 0 {
				return fmt.Sprintf("message %d from %d: gap %d, left %v", m.ID, p.id, m.outstanding(), m.left())
			}
		}
	}
	for _, p := range s.sender.peers {
		if p != nil {
			for m := range p.messages.All() {
				tokens += m.tokens.Len()
				if !m.ready.In() && !m.timer.In() {
					return fmt.Sprintf("message %d to %d neither waits for the uplink nor for a timer", m.ID, p.id)
				}
			}
		}
	}
	if outstanding != r.outstanding || tokens != s.sender.tokens {
		return fmt.Sprintf("%d tokens outstanding, %d by message; %d held, %d by message", r.outstanding, outstanding,
			s.sender.tokens, tokens)
	}
	for _, c := range s.sender.accepted {
		if c.channels < 0 || c.channels > s.params.Channels {
			return fmt.Sprintf("sender has %d channels", c.channels)
		}
	}
	return ""
}

// ControlQueue returns how many control packets wait.
func (s *DCPIM) ControlQueue() int { return s.control.Len() }

// Timers returns how many messages have a timer at their sender.
func (s *DCPIM) Timers() int { return s.sender.timers.Len() }

// ReceiverChannels and SenderChannels return the channels of the data phase as
// the two halves of a host see them, With the channels by sender, OpenChannels those
// that tokens go over, and PromptChannels those of them that are of the next phase.
func (s *DCPIM) ReceiverChannels() int { return s.receiver.active.total }
func (s *DCPIM) OpenChannels() int     { return s.receiver.active.open + s.receiver.building.open }
func (s *DCPIM) PromptChannels() int   { return s.receiver.building.open }
func (s *DCPIM) SenderChannels() int   { return s.matchedChannels() }
func (s *DCPIM) With(id topo.HostID) int {
	if i := s.receiver.peers[id]; i != nil {
		return s.receiver.active.with(i)
	}
	return 0
}

// Round and Epoch return the timing in use, Phase when an epoch's data phase
// begins, Share the packets of a channel, Expiry when tokens expire.
func (s *DCPIM) Round() Time { return s.timing.round() }
func (s *DCPIM) Epoch() Time { return s.timing.epoch() }
func (s *DCPIM) Phase(epoch int64) Time {
	return Time(epoch*s.timing.period+s.timing.rounds) * s.timing.round()
}
func (s *DCPIM) ChannelPackets() int     { return s.timing.channelPackets }
func (s *DCPIM) Expiry(epoch int64) Time { return s.timing.expiry(epoch) }
func (s *DCPIM) ShortPackets() int       { return s.receiver.shortPackets }

// A Timing is what newTiming derives.
type Timing struct {
	ControlRTT, Round, Matching, Epoch Time
	ResendTimeout, WindowTimeout       Time
	BDP, ChannelPackets                int
}

// Derive returns the timing of a fabric for packets of given wire lengths.
func Derive(f *topo.Fabric, rate units.BitsPerSecond, data, control Bytes, p *Params) Timing {
	t := newTiming(f, rate, sizes{data, control}, p)
	return Timing{
		ControlRTT: t.controlRTT, Round: t.round(), Matching: t.round() * Time(t.rounds), Epoch: t.epoch(),
		ResendTimeout: t.resendTimeout, WindowTimeout: t.windowTimeout, BDP: t.bdp, ChannelPackets: t.channelPackets,
	}
}

// BandwidthDelay returns the default BDP for frames of a given wire length.
func BandwidthDelay(f *topo.Fabric, frame Bytes) Bytes { return bandwidthDelay(f, frame) }

// Class returns the class of a message's data.
func (p *Params) Class(packets, short int) int { return p.class(packets, short) }

// A Header is a header as tests read and write it.
type Header struct {
	Kind                string
	ID                  transport.MessageID
	Channels, Prompt    int
	Round, Remaining    uint32
	Priority, Epoch     uint8
	Unscheduled         bool
	Seq, Offset, Length uint32
	AboveFloor          uint16
}

// Parse reads a header; its Kind is "?" if that is impossible.
func Parse(b []byte) Header {
	var h header
	if h.decode(b) != nil {
		return Header{Kind: "?"}
	}
	return Header{
		Kind: kindNames[h.kind], ID: h.id, Channels: int(h.channels), Prompt: int(h.prompt), Round: h.round,
		Remaining: h.remaining,
		Priority:  h.priority, Epoch: h.epoch, Unscheduled: h.unscheduled, Seq: h.seq, Offset: h.offset,
		Length: h.length, AboveFloor: h.aboveFloor,
	}
}

// Encode writes a header into a packet.
func (h Header) Encode(p *transport.Packet) {
	e := header{
		id: h.ID, channels: uint8(h.Channels), prompt: uint8(h.Prompt), round: h.Round, remaining: h.Remaining,
		priority: h.Priority, epoch: h.Epoch, unscheduled: h.Unscheduled, seq: h.Seq, offset: h.Offset,
		length: h.Length, aboveFloor: h.AboveFloor,
	}
	for k, name := range kindNames {
		if name == h.Kind {
			e.kind = kind(k)
		}
	}
	e.encode(p)
}

// Remembered returns how many delivered messages of a sender are remembered one
// by one.
func (s *DCPIM) Remembered(id topo.HostID) int { return s.receiver.peers[id].messages.Remembered() }

var kindNames = headertest.Names[kind](&table)
