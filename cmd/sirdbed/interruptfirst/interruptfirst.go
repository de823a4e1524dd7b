// Package interruptfirst catches interrupts of a run before most of the program is
// initialized, which takes some 20 ms: an interrupt then would end it without a word.
//
// Go initializes packages by import path, as soon as those that they import are
// (package hostfirst has more on that). This one needs next to nothing, and so its
// turn comes early: TestInterruptsAreCaughtFirst.
package interruptfirst

import (
	"os"
	"os/signal"
	"syscall"
)

// Caught has the first signal that was to end this process early and that nobody has
// received yet: of a run from the beginning, of other commands after Catch.
var Caught = make(chan os.Signal, 1)

func init() {
	if len(os.Args) > 1 && os.Args[1] == "run" {
		Catch()
	}
}

// Catch has signals that end a command early sent to Caught.
func Catch() { signal.Notify(Caught, signals()...) }

// Release has them end the process at once.
func Release() { signal.Reset(signals()...) }

// signals lists them: a terminal that closes is an interrupt too, unless nohup has
// SIGHUP ignored.
func signals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}
