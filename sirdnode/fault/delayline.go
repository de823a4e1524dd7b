package fault

import "sirdbed/topo/units"

// A DelayLine keeps copies of frames until they are due. It has room for a fixed
// number of frames of a fixed size, allocated when it is made, and belongs to one
// goroutine.
type DelayLine struct {
	slots []slot // a binary heap, the earliest due first
	used  int
	next  uint64 // order of Put, so that frames due together leave in that order
}

type slot struct {
	due   units.Time
	order uint64
	frame []byte
}

// NewDelayLine makes room for count frames of up to size bytes.
func NewDelayLine(count, size int) *DelayLine {
	q := &DelayLine{slots: make([]slot, count)}
	memory := make([]byte, count*size)
	for i := range q.slots {
		q.slots[i].frame = memory[i*size : i*size : (i+1)*size]
	}
	return q
}

// Put copies a frame, to be delivered at due. It returns false, and has kept
// nothing, when there is no room for it.
func (q *DelayLine) Put(due units.Time, frame []byte) bool {
	if q.used == len(q.slots) || len(frame) > cap(q.slots[q.used].frame) {
		return false
	}
	s := &q.slots[q.used]
	s.due, s.order, s.frame = due, q.next, append(s.frame[:0], frame...)
	q.next++
	q.used++
	for i := q.used - 1; i > 0; {
		parent := (i - 1) / 2
		if !q.before(i, parent) {
			break
		}
		q.slots[i], q.slots[parent] = q.slots[parent], q.slots[i]
		i = parent
	}
	return true
}

// Due returns when the next frame is due, units.Never when there is none.
func (q *DelayLine) Due() units.Time {
	if q.used == 0 {
		return units.Never
	}
	return q.slots[0].due
}

// Take removes the frame that is due first, if it is due at now, and returns
// it with the time at which it was due. The bytes are valid until the next Put.
func (q *DelayLine) Take(now units.Time) (frame []byte, due units.Time, ok bool) {
	if q.used == 0 || q.slots[0].due > now {
		return nil, 0, false
	}
	q.used--
	q.slots[0], q.slots[q.used] = q.slots[q.used], q.slots[0]
	for i := 0; ; {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < q.used; child++ {
			if q.before(child, first) {
				first = child
			}
		}
		if first == i {
			break
		}
		q.slots[i], q.slots[first] = q.slots[first], q.slots[i]
		i = first
	}
	taken := &q.slots[q.used]
	return taken.frame, taken.due, true
}

func (q *DelayLine) before(i, j int) bool {
	a, b := &q.slots[i], &q.slots[j]
	return a.due < b.due || a.due == b.due && a.order < b.order
}
