//go:build !linux

package main

import "time"

// threadTime is what the calling thread has used of processors; 0: it is not known.
func threadTime() time.Duration { return 0 }
