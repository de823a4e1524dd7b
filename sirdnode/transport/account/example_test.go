package account_test

import (
	"fmt"

	"sirdbed/sirdnode/transport/account"
)

// Reassembly: what is new, and what is missing.
func ExampleSpans() {
	const size = 4000
	var arrived account.Spans
	fmt.Println("new:", arrived.Add(0, 1000))
	fmt.Println("new:", arrived.Add(2000, 3000))
	fmt.Println("new:", arrived.Add(500, 1500)) // in part a duplicate
	from, to, ok := arrived.Gap(0, size)
	fmt.Println(ok, "missing from", int64(from), "to", int64(to))
	fmt.Println("whole:", arrived.Total() == size)
	// Output:
	// new: 1KB
	// new: 1KB
	// new: 500B
	// true missing from 1500 to 2000
	// whole: false
}

// A receiver need not remember messages below the sender's floor, which every
// packet carries.
func ExampleIncoming_RaiseFloor() {
	var sender account.Outgoing[string]
	receiver := account.NewIncoming[string]()
	sender.Add(0, "first")
	sender.Add(1, "second")
	sender.Add(2, "third")

	receiver.Done(0)
	receiver.Done(1)
	sender.Settle(0)
	sender.Settle(1)
	receiver.RaiseFloor(2, sender.AboveFloor(2), nil)
	fmt.Println("remembered one by one:", receiver.Remembered(), "first is done:", receiver.IsDone(0))
	// Output:
	// remembered one by one: 0 first is done: true
}
