package account

import (
	"slices"

	"sirdbed/sirdnode/transport"
)

// Spans is a set of bytes, kept as ranges: what has arrived of a message. Bytes in
// order cost nothing, a few ranges out of order little. The zero value is empty.
type Spans struct {
	list  []span // disjoint, not adjacent, ascending
	total transport.Bytes
}

type span struct{ from, to transport.Bytes }

// Add adds [from, to) and returns how many of its bytes are new.
func (s *Spans) Add(from, to transport.Bytes) transport.Bytes {
	if from >= to {
		return 0
	}
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
	return to - from - covered
}

// Total returns the number of bytes in the set.
func (s *Spans) Total() transport.Bytes { return s.total }

// Contiguous returns the number of bytes from 0 on without a gap.
func (s *Spans) Contiguous() transport.Bytes {
	if len(s.list) > 0 && s.list[0].from == 0 {
		return s.list[0].to
	}
	return 0
}

// Gap returns the first range at or after from and before end that is missing,
// false if none is.
func (s *Spans) Gap(from, end transport.Bytes) (transport.Bytes, transport.Bytes, bool) {
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
func (s *Spans) Reset() { s.list, s.total = s.list[:0], 0 }
