package queue_test

import (
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/queue"
)

// SRPT: the message with the fewest remaining bytes goes first.
func ExampleHeap() {
	type message struct {
		name      string
		remaining transport.Bytes
		slot      queue.Slot
	}
	srpt := queue.NewHeap(func(m *message) *queue.Slot { return &m.slot })
	for _, m := range []*message{{name: "a", remaining: 3000}, {name: "b", remaining: 1000},
		{name: "c", remaining: 2000}} {
		srpt.Set(m, m.remaining)
	}
	for srpt.Len() > 0 {
		m := srpt.Top()
		fmt.Println(m.name, m.remaining)
		if m.remaining -= 1500; m.remaining > 0 {
			srpt.Set(m, m.remaining)
		} else {
			srpt.Remove(m)
		}
	}
	// Output:
	// b 1KB
	// c 2KB
	// c 500B
	// a 3KB
	// a 1.5KB
}
