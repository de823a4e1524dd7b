package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is what the calling thread has used of processors; 0: it is not known. getrusage(2)
// would be off by up to a timer tick.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
