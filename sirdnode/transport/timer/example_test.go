package timer_test

import (
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/timer"
	"sirdbed/topo/units"
)

// Credit at 12 Gbps: a packet of 1,500 wire bytes a microsecond.
func ExamplePacer() {
	p := timer.Pacer{Rate: 12 * units.Gbps}
	for now := transport.Time(0); now <= 2*units.Microsecond; now = p.At() {
		fmt.Println("send at", now)
		p.Sent(now, 1500, 0)
	}
	fmt.Println(p.Ready(2500), p.Ready(3000))
	// Output:
	// send at 0ns
	// send at 1us
	// send at 2us
	// false true
}

// A message without progress is asked for again, less and less often.
func ExampleWatch() {
	watch := timer.Watch{Every: 100 * units.Microsecond}
	timeout := watch.Every
	watch.Arm(0)
	for range 3 {
		now := watch.At()
		if watch.Due(now) {
			fmt.Println("ask again at", now)
		}
		timeout = timer.Backoff(timeout, 100*units.Microsecond)
		watch.Every = timeout
		watch.Arm(now)
	}
	// Output:
	// ask again at 100us
	// ask again at 300us
	// ask again at 700us
}
