// Package queue has the containers of messages and packets that protocols share: a
// heap by key, a queue in order of arrival, and a free list. Once warm they
// allocate nothing. None is safe for concurrent use.
package queue

import "sirdbed/sirdnode/transport"

// A Heap is a priority queue of *T: the lowest key first, and in order of arrival
// among equal keys. Keyed by remaining bytes it is SRPT. Each element has a Slot of
// its own, so that it can be moved or removed; a Slot is in one Heap at a time.
type Heap[T any] struct {
	slot func(*T) *Slot
	list []*T
	seq  uint64
}

// A Slot is an element's position in a Heap. The zero value is in none.
type Slot struct {
	key int64
	seq uint64
	at  int // index + 1
}

// In reports whether the element is in a heap.
func (s *Slot) In() bool { return s.at > 0 }

// NewHeap makes a heap of elements whose Slot is found by slot.
func NewHeap[T any](slot func(*T) *Slot) Heap[T] { return Heap[T]{slot: slot} }

// Len returns the number of elements.
func (h *Heap[T]) Len() int { return len(h.list) }

// At returns the k-th element, in no particular order.
func (h *Heap[T]) At(k int) *T { return h.list[k] }

// Top returns the element with the lowest key, nil if there is none.
func (h *Heap[T]) Top() *T {
	if len(h.list) == 0 {
		return nil
	}
	return h.list[0]
}

// Set inserts e with the given key, or moves it there. e must not be in another
// heap.
func (h *Heap[T]) Set(e *T, key transport.Bytes) {
	s := h.slot(e)
	if s.at == 0 {
		h.seq++
		h.list = append(h.list, e)
		*s = Slot{int64(key), h.seq, len(h.list)}
		h.up(len(h.list) - 1)
		return
	}
	s.key = int64(key)
	h.down(h.up(s.at - 1))
}

// Remove takes e out, if it is in this heap.
func (h *Heap[T]) Remove(e *T) {
	s := h.slot(e)
	if s.at == 0 || s.at > len(h.list) || h.list[s.at-1] != e {
		return
	}
	i, last := s.at-1, len(h.list)-1
	h.swap(i, last)
	h.list[last] = nil
	h.list = h.list[:last]
	s.at = 0
	if i < last {
		h.down(h.up(i))
	}
}

func (h *Heap[T]) less(i, j int) bool {
	a, b := h.slot(h.list[i]), h.slot(h.list[j])
	return a.key < b.key || a.key == b.key && a.seq < b.seq
}

func (h *Heap[T]) swap(i, j int) {
	h.list[i], h.list[j] = h.list[j], h.list[i]
	h.slot(h.list[i]).at, h.slot(h.list[j]).at = i+1, j+1
}

func (h *Heap[T]) up(i int) int {
	for i > 0 && h.less(i, (i-1)/2) {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	return i
}

func (h *Heap[T]) down(i int) {
	for {
		least := i
		for _, c := range [2]int{2*i + 1, 2*i + 2} {
			if c < len(h.list) && h.less(c, least) {
				least = c
			}
		}
		if least == i {
			return
		}
		h.swap(i, least)
		i = least
	}
}
