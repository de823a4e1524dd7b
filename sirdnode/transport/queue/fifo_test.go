package queue_test

import (
	"testing"

	"sirdbed/sirdnode/transport/queue"
)

// A queue that never runs empty does not grow without end.
func TestQueueKeepsItsMemory(t *testing.T) {
	var q queue.FIFO[int]
	for i := range 5 {
		q.Push(i)
	}
	next := 0
	step := func() {
		for range 20_000 {
			q.Push(next + 5)
			if got, ok := q.Pop(); !ok || got != next || q.Len() != 5 || *q.Front() != next+1 || *q.At(4) != next+5 {
				t.Fatalf("got %d, %v, want %d", got, ok, next)
			}
			next++
		}
	}
	step()
	if allocs := testing.AllocsPerRun(1, step); allocs != 0 {
		t.Errorf("%v allocations in 20,000 elements", allocs)
	}
	q.Reset()
	if _, ok := q.Pop(); ok || q.Len() != 0 {
		t.Error("not empty")
	}
}
