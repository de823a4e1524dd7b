package queue

// A FIFO is a queue in order of arrival. It keeps its memory. The zero value is
// empty.
type FIFO[T any] struct {
	list []T
	head int
}

// Len returns the number of elements.
func (q *FIFO[T]) Len() int { return len(q.list) - q.head }

// Push appends e.
func (q *FIFO[T]) Push(e T) {
	if q.head > 0 && len(q.list) == cap(q.list) && q.head >= len(q.list)/2 {
		n := copy(q.list, q.list[q.head:])
		clear(q.list[n:])
		q.list, q.head = q.list[:n], 0
	}
	q.list = append(q.list, e)
}

// Front returns the oldest element, which must exist.
func (q *FIFO[T]) Front() *T { return &q.list[q.head] }

// At returns the i-th element, counted from the oldest, which is the 0th.
func (q *FIFO[T]) At(i int) *T { return &q.list[q.head+i] }

// Pop removes the oldest element, false if there is none.
func (q *FIFO[T]) Pop() (e T, ok bool) {
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
func (q *FIFO[T]) Reset() {
	clear(q.list)
	q.list, q.head = q.list[:0], 0
}
