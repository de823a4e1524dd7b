//go:build linux

package guest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A process that is killed takes its guest with it, memory and all, but cannot
// remove the scratch directory. Its cleaner does: this program again, in a
// session of its own, which waits until it is alone.

// cleanerArgument is the first argument with which this program is started as a
// cleaner, the directory the second.
const cleanerArgument = "guest-cleaner"

// A cleaner is that process, as seen by the one that it outlives.
type cleaner struct {
	cmd  *exec.Cmd
	pipe *os.File // its standard input; closed by this process's end, if by nothing else
}

func startCleaner(dir string) (*cleaner, error) {
	stdin, pipe, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	cmd := exec.Command("/proc/self/exe", cleanerArgument, dir)
	cmd.Stdin = stdin
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		pipe.Close()
		return nil, fmt.Errorf("starting the cleaner of %s: %w", dir, err)
	}
	return &cleaner{cmd, pipe}, nil
}

// end has the cleaner remove the directory, and waits until it is gone.
func (c *cleaner) end() {
	c.pipe.Close()
	_ = c.cmd.Wait()
}

// cleanFor is how long a cleaner tries: a dying guest may still make files.
const cleanFor = 5 * time.Second

// clean is a cleaner: it waits until its standard input ends, whose other end the
// process that uses dir has open, and removes dir.
func clean(dir string) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	_, _ = io.Copy(io.Discard, os.Stdin)
	var err error
	for until := time.Now().Add(cleanFor); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if inUse(dir) {
			continue
		}
		err = os.RemoveAll(dir)
		if _, gone := os.Lstat(dir); err == nil && os.IsNotExist(gone) {
			return nil
		}
	}
	return fmt.Errorf("%s is still there: %w", dir, err)
}

// inUse reports whether a living process has a scratch directory locked.
func inUse(dir string) bool {
	file, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return false
	}
	defer file.Close()
	return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
}
