package main

import (
	"syscall"
	"time"
)

// processorTime is what this process has used of processors.
func processorTime() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, exited, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(self, &created, &exited, &kernel, &user) != nil {
		return 0
	}
	span := func(f syscall.Filetime) time.Duration { // in units of 100 ns
		return 100 * time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime))
	}
	return span(kernel) + span(user)
}
