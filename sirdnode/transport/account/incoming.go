// Package account keeps account of messages: which of them are open at a sender,
// open or delivered at a receiver, and which of a message's bytes have arrived.
// Nothing in it is safe for concurrent use.
package account

import (
	"iter"
	"maps"
	"slices"

	"sirdbed/sirdnode/transport"
)

// Incoming is a receiver's account of the messages from one peer: the state of
// those on their way in, and which ones were delivered, so that late duplicates do
// not begin them again. It remembers the latter until the sender's packets show
// that they are settled (Outgoing.AboveFloor).
type Incoming[M any] struct {
	open  map[transport.MessageID]*M
	done  map[transport.MessageID]struct{}
	floor transport.MessageID // ids below are settled at the sender

	ids      []transport.MessageID // scratch of Select
	selected []*M
}

// NewIncoming makes an account without messages.
func NewIncoming[M any]() Incoming[M] {
	return Incoming[M]{open: map[transport.MessageID]*M{}, done: map[transport.MessageID]struct{}{}}
}

// Add keeps the state of a message from now on.
func (in *Incoming[M]) Add(id transport.MessageID, m *M) { in.open[id] = m }

// Find returns the state of a message, nil if there is none.
func (in *Incoming[M]) Find(id transport.MessageID) *M { return in.open[id] }

// Forget drops the state of a message. If it is not Done, its packets begin it
// anew.
func (in *Incoming[M]) Forget(id transport.MessageID) { delete(in.open, id) }

// Done remembers that a message was delivered, or is no longer wanted.
func (in *Incoming[M]) Done(id transport.MessageID) { in.done[id] = struct{}{} }

// IsDone reports whether a message is Done, or settled at its sender.
func (in *Incoming[M]) IsDone(id transport.MessageID) bool {
	_, ok := in.done[id]
	return ok || int32(id-in.floor) < 0
}

// Floor returns the id below which all messages are settled at the sender, as far as it has
// shown.
func (in *Incoming[M]) Floor() transport.MessageID { return in.floor }

// Len returns how many messages are on their way in.
func (in *Incoming[M]) Len() int { return len(in.open) }

// Remembered returns how many messages are remembered one by one as Done.
func (in *Incoming[M]) Remembered() int { return len(in.done) }

// All yields the messages on their way in, in no particular order. Some may be
// forgotten meanwhile, but none added.
func (in *Incoming[M]) All() iter.Seq[*M] { return maps.Values(in.open) }

// Select returns the messages that match, in the order of their ids, which does
// not depend on how maps are laid out. The list is valid until the next call.
func (in *Incoming[M]) Select(match func(*M) bool) []*M {
	in.ids = in.ids[:0]
	for id, m := range in.open {
		if match(m) {
			in.ids = append(in.ids, id)
		}
	}
	slices.SortFunc(in.ids, func(a, b transport.MessageID) int { return int(int32(a - b)) })
	clear(in.selected)
	in.selected = in.selected[:0]
	for _, id := range in.ids {
		in.selected = append(in.selected, in.open[id])
	}
	return in.selected
}

// RaiseFloor takes from a packet that the id of its message is so far above the
// lowest id that is not settled at the sender: messages below that floor need not
// be remembered. Those that are still on their way in will not be completed by
// their sender; settled, unless nil, is called with each and may Forget it. The
// floor never falls, and FloorUnknown leaves it as it is.
func (in *Incoming[M]) RaiseFloor(id transport.MessageID, aboveFloor uint16, settled func(*M)) {
	if aboveFloor == FloorUnknown {
		return
	}
	floor := id - transport.MessageID(aboveFloor)
	rise := int32(floor - in.floor)
	if rise <= 0 {
		return
	}
	// Step by step while that is less work than going over all that is known: a
	// header may raise the floor by any distance.
	if int(rise) <= 64+len(in.done)+len(in.open) {
		for ; in.floor != floor; in.floor++ {
			delete(in.done, in.floor)
			if m := in.open[in.floor]; m != nil && settled != nil {
				settled(m)
			}
		}
		return
	}
	in.floor = floor
	for id := range in.done {
		if int32(id-floor) < 0 {
			delete(in.done, id)
		}
	}
	if settled == nil {
		return
	}
	for id, m := range in.open {
		if int32(id-floor) < 0 {
			settled(m)
		}
	}
}
