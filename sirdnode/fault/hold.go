package fault

import "sirdbed/topo/units"

// A Hold keeps copies of frames until they are due. It holds a fixed number of
// frames of a fixed size, allocated when it is made, and belongs to one
// goroutine.
type Hold struct {
	slots []slot // a binary heap, the earliest due first
	used  int
	next  uint64 // order of Put, so that frames due together leave in that order
	full  uint64
}

type slot struct {
	due   units.Time
	order uint64
	frame []byte
}

// NewHold makes room for count frames of up to size bytes.
func NewHold(count, size int) *Hold {
	h := &Hold{slots: make([]slot, count)}
	memory := make([]byte, count*size)
	for i := range h.slots {
		h.slots[i].frame = memory[i*size : i*size : (i+1)*size]
	}
	return h
}

// Put copies a frame, to be delivered at due. It returns false, and has kept
// nothing, when there is no room for it: the caller then delivers the frame at
// once.
func (h *Hold) Put(due units.Time, frame []byte) bool {
	if h.used == len(h.slots) || len(frame) > cap(h.slots[h.used].frame) {
		h.full++
		return false
	}
	s := &h.slots[h.used]
	s.due, s.order, s.frame = due, h.next, append(s.frame[:0], frame...)
	h.next++
	h.used++
	for i := h.used - 1; i > 0; {
		parent := (i - 1) / 2
		if !h.before(i, parent) {
			break
		}
		h.slots[i], h.slots[parent] = h.slots[parent], h.slots[i]
		i = parent
	}
	return true
}

// Due returns when the next frame is due, units.Never when none is held.
func (h *Hold) Due() units.Time {
	if h.used == 0 {
		return units.Never
	}
	return h.slots[0].due
}

// Take removes the frame that is due first, if it is due at now, and returns
// it with the time at which it was due. The bytes are valid until the next Put.
func (h *Hold) Take(now units.Time) (frame []byte, due units.Time, ok bool) {
	if h.used == 0 || h.slots[0].due > now {
		return nil, 0, false
	}
	h.used--
	h.slots[0], h.slots[h.used] = h.slots[h.used], h.slots[0]
	for i := 0; ; {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < h.used; child++ {
			if h.before(child, first) {
				first = child
			}
		}
		if first == i {
			break
		}
		h.slots[i], h.slots[first] = h.slots[first], h.slots[i]
		i = first
	}
	taken := &h.slots[h.used]
	return taken.frame, taken.due, true
}

func (h *Hold) before(i, j int) bool {
	a, b := &h.slots[i], &h.slots[j]
	return a.due < b.due || a.due == b.due && a.order < b.order
}
