//go:build linux

package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// The life pipe goes from the front to the supervisor and the worker. Nobody but the
// front can write to it, so that its end is the front's.
//
// The supervisor's death signal alone does not do: a front that is killed between
// clone and the child's prctl(PR_SET_PDEATHSIG) has no death signal sent. Other
// children look for their parent after prctl, but process 1 of a namespace sees none.

// lifeFD is the descriptor of the life pipe in the supervisor and the worker.
const lifeFD = 3

// haveLife reports whether this process has the life pipe, and keeps it from the
// processes that it starts.
func haveLife() bool {
	var stat unix.Stat_t
	if unix.Fstat(lifeFD, &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFIFO {
		return false
	}
	unix.CloseOnExec(lifeFD)
	return true
}

// endWithFront ends this process when the front has ended, now or later.
func endWithFront() {
	go func() {
		pipe := []unix.PollFd{{Fd: lifeFD}} // of no events but its end
		for pipe[0].Revents == 0 {
			_, _ = unix.Poll(pipe, -1)
		}
		os.Exit(128 + int(unix.SIGKILL))
	}()
}

// Interrupts yields a value for each Interrupt of the front, if this process is the
// worker of a sandbox: call it once, after SetupInit.
func Interrupts() <-chan struct{} {
	if !worker {
		return nil
	}
	interrupts := make(chan struct{})
	go func() {
		pipe := os.NewFile(lifeFD, "life pipe")
		for {
			if n, err := pipe.Read(make([]byte, 1)); n == 0 || err != nil {
				return
			}
			interrupts <- struct{}{}
		}
	}()
	return interrupts
}
