package account

import (
	"iter"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/queue"
)

// FloorUnknown is what Outgoing.AboveFloor returns when the distance does not fit
// a header's 16 bits.
const FloorUnknown = 0xffff

// Outgoing is a sender's account of its messages to one peer: the state of each
// until it is settled (acknowledged or given up), and the lowest id that is not,
// the floor. The zero value has none.
//
// It uses memory for all ids from the floor to the last message.
type Outgoing[T any] struct {
	entries queue.FIFO[entry[T]] // by id, from floor on
	floor   transport.MessageID  // the lowest id that is not settled, or Next
	open    int
}

type entry[T any] struct {
	state T
	open  bool
}

// Add keeps the state of a message from now on. Ids ascend; those left out count
// as settled.
func (o *Outgoing[T]) Add(id transport.MessageID, state T) {
	if o.entries.Len() == 0 {
		o.floor = id
	}
	for int32(id-o.Next()) > 0 {
		o.entries.Push(entry[T]{})
	}
	o.entries.Push(entry[T]{state, true})
	o.open++
}

// Find returns the state of a message, the zero value if it is settled or was
// never added.
func (o *Outgoing[T]) Find(id transport.MessageID) (state T) {
	if e := o.at(id); e != nil {
		return e.state
	}
	return state
}

func (o *Outgoing[T]) at(id transport.MessageID) *entry[T] {
	if i := int(int32(id - o.floor)); i >= 0 && i < o.entries.Len() {
		return o.entries.At(i)
	}
	return nil
}

// Settle forgets a message that was acknowledged or given up.
func (o *Outgoing[T]) Settle(id transport.MessageID) {
	if e := o.at(id); e != nil && e.open {
		*e = entry[T]{}
		o.open--
	}
	for o.entries.Len() > 0 && !o.entries.Front().open {
		o.entries.Pop()
		o.floor++
	}
}

// Len returns how many messages are not settled.
func (o *Outgoing[T]) Len() int { return o.open }

// All yields the messages that are not settled, by id. Some may be settled
// meanwhile, but none added.
func (o *Outgoing[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for id, next := o.floor, o.Next(); id != next; id++ {
			if e := o.at(id); e != nil && e.open && !yield(e.state) {
				return
			}
		}
	}
}

// Floor returns the lowest id that is not settled, or Next if all are.
func (o *Outgoing[T]) Floor() transport.MessageID { return o.floor }

// Next returns the id after the highest that was added.
func (o *Outgoing[T]) Next() transport.MessageID {
	return o.floor + transport.MessageID(o.entries.Len())
}

// AboveFloor returns how far an id is above the floor, or FloorUnknown if that is
// too far for 16 bits. Packets carry it, so that the receiver knows what it need
// not remember (Incoming.RaiseFloor).
func (o *Outgoing[T]) AboveFloor(id transport.MessageID) uint16 {
	return uint16(min(id-o.floor, FloorUnknown))
}
