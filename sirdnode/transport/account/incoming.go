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
//
// A host has one for each peer, and looks into it with each packet. So the usual account,
// of few open messages and some hundred ids, has no maps.
type Incoming[M any] struct {
	floor transport.MessageID // ids below are settled at the sender
	done  delivered
	few   []incoming[M]              // the first open ones
	many  map[transport.MessageID]*M // those that did not fit there

	selected []incoming[M] // scratch of Select
	states   []*M          // the same
}

type incoming[M any] struct {
	id    transport.MessageID
	state *M
}

// fewOpen is how many open messages are looked through one by one.
const fewOpen = 16

// NewIncoming makes an account without messages.
func NewIncoming[M any]() Incoming[M] { return Incoming[M]{} }

// Add keeps the state of a message from now on.
func (in *Incoming[M]) Add(id transport.MessageID, m *M) {
	if i := in.index(id); i >= 0 {
		in.few[i].state = m
	} else if len(in.few) < fewOpen && in.Find(id) == nil {
		in.few = append(in.few, incoming[M]{id, m})
	} else {
		if in.many == nil {
			in.many = map[transport.MessageID]*M{}
		}
		in.many[id] = m
	}
}

// index returns where a message is in few, -1 if it is not.
func (in *Incoming[M]) index(id transport.MessageID) int {
	for i := range in.few {
		if in.few[i].id == id {
			return i
		}
	}
	return -1
}

// Find returns the state of a message, nil if there is none.
func (in *Incoming[M]) Find(id transport.MessageID) *M {
	for i := range in.few {
		if in.few[i].id == id {
			return in.few[i].state
		}
	}
	if len(in.many) > 0 {
		return in.many[id]
	}
	return nil
}

// Forget drops the state of a message. If it is not Done, its packets begin it
// anew.
func (in *Incoming[M]) Forget(id transport.MessageID) {
	if i := in.index(id); i >= 0 {
		last := len(in.few) - 1
		in.few[i] = in.few[last]
		in.few[last] = incoming[M]{}
		in.few = in.few[:last]
		return
	}
	delete(in.many, id)
}

// Done remembers that a message was delivered, or is no longer wanted.
func (in *Incoming[M]) Done(id transport.MessageID) { in.done.add(id, in.floor) }

// IsDone reports whether a message is Done, or settled at its sender.
func (in *Incoming[M]) IsDone(id transport.MessageID) bool {
	return int32(id-in.floor) < 0 || in.done.has(id, in.floor)
}

// Floor returns the id below which all messages are settled at the sender, as far as it has
// shown.
func (in *Incoming[M]) Floor() transport.MessageID { return in.floor }

// Len returns how many messages are on their way in.
func (in *Incoming[M]) Len() int { return len(in.few) + len(in.many) }

// Remembered returns how many messages are remembered one by one as Done.
func (in *Incoming[M]) Remembered() int { return in.done.len() }

// All yields the messages on their way in, in no particular order. Some may be
// forgotten meanwhile, but none added.
func (in *Incoming[M]) All() iter.Seq[*M] {
	return func(yield func(*M) bool) {
		var few [fewOpen]incoming[M]
		for _, e := range few[:copy(few[:], in.few)] {
			if in.index(e.id) >= 0 && !yield(e.state) {
				return
			}
		}
		for _, m := range in.many {
			if !yield(m) {
				return
			}
		}
	}
}

// Select returns the messages that match, in the order of their ids. The list is valid until
// the next call.
func (in *Incoming[M]) Select(match func(*M) bool) []*M {
	in.selected = in.selected[:0]
	for _, e := range in.few {
		if match(e.state) {
			in.selected = append(in.selected, e)
		}
	}
	for id, m := range in.many {
		if match(m) {
			in.selected = append(in.selected, incoming[M]{id, m})
		}
	}
	slices.SortFunc(in.selected, func(a, b incoming[M]) int { return int(int32(a.id - b.id)) })
	clear(in.states)
	in.states = in.states[:0]
	for _, e := range in.selected {
		in.states = append(in.states, e.state)
	}
	clear(in.selected)
	return in.states
}

// RaiseFloor takes from a packet that the id of its message is so far above the
// lowest id that is not settled at the sender: messages below that floor need not
// be remembered. Those that are still on their way in will not be completed by
// their sender; settled, unless nil, is called with each, in the order of ids, and may Forget
// it. The floor never falls, and FloorUnknown leaves it as it is.
func (in *Incoming[M]) RaiseFloor(id transport.MessageID, aboveFloor uint16, settled func(*M)) {
	if aboveFloor == FloorUnknown {
		return
	}
	from, floor := in.floor, id-transport.MessageID(aboveFloor)
	if int32(floor-from) <= 0 {
		return
	}
	in.done.raise(from, floor)
	in.floor = floor
	if settled == nil || in.Len() == 0 {
		return
	}
	if len(in.many) > 0 {
		in.settleMany(from, floor, settled)
		return
	}
	for e := in.lowest(from, floor); e.state != nil; e = in.lowest(from, floor) {
		from = e.id + 1
		settled(e.state)
	}
}

// lowest returns the message of few with the lowest id of [from, to).
func (in *Incoming[M]) lowest(from, to transport.MessageID) (low incoming[M]) {
	best := to - from
	for _, e := range in.few {
		if e.id-from < best {
			low, best = e, e.id-from
		}
	}
	return low
}

// settleMany calls settled with the messages of [from, to), whose ids it goes through while that is less
// work than going over all messages: a header may raise the floor by any distance.
func (in *Incoming[M]) settleMany(from, to transport.MessageID, settled func(*M)) {
	if int(to-from) <= 64+in.Len() {
		for id := from; id != to; id++ {
			if m := in.Find(id); m != nil {
				settled(m)
			}
		}
		return
	}
	var ids []transport.MessageID
	for _, e := range in.few {
		ids = append(ids, e.id)
	}
	ids = slices.AppendSeq(ids, maps.Keys(in.many))
	slices.SortFunc(ids, func(a, b transport.MessageID) int { return int(int32(a - b)) })
	for _, id := range ids {
		if m := in.Find(id); m != nil && id-from < to-from {
			settled(m)
		}
	}
}
