package account

import (
	"slices"

	"sirdbed/sirdnode/transport"
)

// Spans is a set of bytes, kept as ranges: what has arrived of a message. Bytes in
// order are one number, a few ranges out of order cost little. The zero value is empty.
type Spans struct {
	head  transport.Bytes // [0, head) is in the set
	list  []span          // beyond head; disjoint, not adjacent, ascending
	total transport.Bytes
}

type span struct{ from, to transport.Bytes }

// Add adds [from, to) and returns how many of its bytes are new.
func (s *Spans) Add(from, to transport.Bytes) transport.Bytes {
	if from >= to {
		return 0
	}
	before := s.total
	if from > s.head {
		s.insert(from, to)
		return s.total - before
	}
	s.total += max(0, to-s.head)
	s.head = max(s.head, to)
	n := 0
	for ; n < len(s.list) && s.list[n].from <= s.head; n++ { // what head has reached
		e := s.list[n]
		s.total -= max(0, min(e.to, s.head)-e.from)
		s.head = max(s.head, e.to)
	}
	s.list = slices.Delete(s.list, 0, n)
	return s.total - before
}

// insert adds a range beyond head.
func (s *Spans) insert(from, to transport.Bytes) {
	// i is the first span that ends at or after from. It and those after it that
	// begin at or before to are merged with the new one.
	i, _ := slices.BinarySearchFunc(s.list, from, func(e span, at transport.Bytes) int {
		if e.to < at {
			return -1
		}
		return 1
	})
	covered := transport.Bytes(0)
	lo, hi, j := from, to, i
	for ; j < len(s.list) && s.list[j].from <= to; j++ {
		e := s.list[j]
		covered += max(0, min(e.to, to)-max(e.from, from))
		lo, hi = min(lo, e.from), max(hi, e.to)
	}
	if i == j {
		s.list = slices.Insert(s.list, i, span{from, to})
	} else {
		s.list[i] = span{lo, hi}
		s.list = slices.Delete(s.list, i+1, j)
	}
	s.total += to - from - covered
}

// Total returns the number of bytes in the set.
func (s *Spans) Total() transport.Bytes { return s.total }

// Contiguous returns the number of bytes from 0 on without a gap.
func (s *Spans) Contiguous() transport.Bytes { return s.head }

// Gap returns the first range at or after from and before end that is missing,
// false if none is.
func (s *Spans) Gap(from, end transport.Bytes) (transport.Bytes, transport.Bytes, bool) {
	from = max(from, s.head)
	for _, e := range s.list {
		if e.to <= from {
			continue
		}
		if e.from > from {
			return from, min(e.from, end), from < end
		}
		from = e.to
	}
	return from, end, from < end
}

// Reset empties the set and keeps its memory.
func (s *Spans) Reset() { s.head, s.list, s.total = 0, s.list[:0], 0 }
