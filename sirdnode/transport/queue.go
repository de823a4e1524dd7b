package transport

// A Queue is a FIFO that keeps its memory. The zero value is empty.
type Queue[T any] struct {
	list []T
	head int
}

// Len returns the number of elements.
func (q *Queue[T]) Len() int { return len(q.list) - q.head }

// Push appends e.
func (q *Queue[T]) Push(e T) {
	if q.head > 0 && len(q.list) == cap(q.list) && q.head >= len(q.list)/2 {
		n := copy(q.list, q.list[q.head:])
		clear(q.list[n:])
		q.list, q.head = q.list[:n], 0
	}
	q.list = append(q.list, e)
}

// Front returns the oldest element, which must exist.
func (q *Queue[T]) Front() *T { return &q.list[q.head] }

// At returns the element i places behind the oldest.
func (q *Queue[T]) At(i int) *T { return &q.list[q.head+i] }

// Pop removes the oldest element, false if there is none.
func (q *Queue[T]) Pop() (e T, ok bool) {
	if q.head == len(q.list) {
		return e, false
	}
	var zero T
	e, q.list[q.head] = q.list[q.head], zero
	if q.head++; q.head == len(q.list) {
		q.list, q.head = q.list[:0], 0
	}
	return e, true
}

// Reset empties the queue.
func (q *Queue[T]) Reset() {
	clear(q.list)
	q.list, q.head = q.list[:0], 0
}
