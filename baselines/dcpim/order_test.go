package dcpim

import (
	"slices"
	"testing"

	"sirdbed/sirdnode/transport"
)

// README, Released order: what is pushed and popped comes in the order of libstdc++'s
// priority_queue with PimTokenComparator. The wanted one is what a C++ program printed for
// the same draws, built by g++ 12.2.
func TestReleasedOrderIsThatOfItsLibrary(t *testing.T) {
	want := []transport.MessageID{0, 3, 7, 8, 10, 14, 12, 16, 11, 2, 17, 23, 24, 26, 27, 30, 5, 31, 32, 34, 33, 35, 36,
		19, 25, 21, 4, 18, 15, 20, 28, 1, 9, 13, 29, 22, 6}
	x := uint32(1)
	draw := func(n uint32) int {
		x = x*1103515245 + 12345
		return int((x >> 16) % n)
	}
	var q releasedOrder
	var got []transport.MessageID
	id := transport.MessageID(0)
	for range 60 {
		if draw(5) < 3 {
			priority := uint8(1 + draw(3))
			q.push(orderEntry{id: id, priority: priority, remaining: 1 + draw(4)})
			id++
		} else if e, ok := q.pop(); ok {
			got = append(got, e.id)
		}
	}
	for e, ok := q.pop(); ok; e, ok = q.pop() {
		got = append(got, e.id)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
