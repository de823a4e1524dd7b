package dcpim

import "sirdbed/sirdnode/transport"

// releasedOrder is the sender's queue of the released simulator: a binary heap as the C++
// library has it, by a comparison that is not an order (README, Released order). What it
// gives depends on how the library moves entries, so this moves them in the same way:
// push_heap and pop_heap of libstdc++ (bits/stl_heap.h).
type releasedOrder []orderEntry

// An orderEntry is leave to send a packet of a message: one that needs no token, or one for
// a token.
type orderEntry struct {
	to        *outPeer
	id        transport.MessageID
	priority  uint8
	remaining int // packets of the message, less those that have arrived when its token was sent
}

// behind reports whether a comes after b (PimTokenComparator): of equal ones each comes
// after the other.
func behind(a, b *orderEntry) bool { return a.priority >= b.priority || a.remaining >= b.remaining }

func (q *releasedOrder) push(e orderEntry) {
	*q = append(*q, e)
	q.rise(len(*q)-1, e)
}

// rise moves an entry from a hole towards the top.
func (q *releasedOrder) rise(hole int, e orderEntry) {
	list := *q
	for hole > 0 {
		above := (hole - 1) / 2
		if !behind(&list[above], &e) {
			break
		}
		list[hole] = list[above]
		hole = above
	}
	list[hole] = e
}

func (q *releasedOrder) pop() (top orderEntry, ok bool) {
	n := len(*q) - 1
	if n < 0 {
		return top, false
	}
	list := *q
	last := list[n]
	top, *q = list[0], list[:n]
	if n == 0 {
		return top, true
	}
	hole, child := 0, 0
	for child < (n-1)/2 {
		child = 2 * (child + 1)
		if behind(&list[child], &list[child-1]) {
			child--
		}
		list[hole] = list[child]
		hole = child
	}
	if n&1 == 0 && child == (n-2)/2 {
		child = 2*child + 1
		list[hole] = list[child]
		hole = child
	}
	q.rise(hole, last)
	return top, true
}

// next is the message that sends the next packet, nil if none may: the one of the first
// priority that has the fewest packets left, or as released.
func (s *DCPIM) next() *outMessage {
	if !s.params.ReleasedOrder {
		return s.sender.ready.Top()
	}
	for {
		e, ok := s.sender.order.pop()
		if !ok {
			return nil
		}
		if m := e.to.messages.Find(e.id); m != nil && m.ready.In() {
			return m
		}
	}
}

// mayNext notes that a message may send one packet more.
func (s *DCPIM) mayNext(m *outMessage) {
	if s.params.ReleasedOrder {
		s.sender.order.push(orderEntry{m.to, m.ID, m.priority, m.packets - m.reached})
	}
}
