package main

import (
	"time"

	"sirdbed/sirdnode/clock"
)

// threadTime is what the calling thread has used of processors; 0: it is not known.
func threadTime() time.Duration { return time.Duration(clock.ThreadTime()) }
