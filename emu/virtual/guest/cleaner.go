//go:build linux

package guest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A process that is killed takes its guest with it, memory and all, but cannot
// remove the scratch directory. Its cleaner does: this program again, in a
// session of its own, which waits until it is alone.

// cleanerArgument is the first argument with which this program is started as a
// cleaner, the name of a scratch directory the second. Its parent is descriptor 3.
const cleanerArgument = "guest-cleaner"

const cleanerParentFD = 3

// A cleaner is that process, as seen by the one that it outlives.
type cleaner struct {
	cmd  *exec.Cmd
	pipe *os.File // its standard input; closed by this process's end, if by nothing else
	dir  *ownDir
}

func startCleaner(dir *ownDir) (*cleaner, error) {
	stdin, pipe, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	cmd := exec.Command("/proc/self/exe", cleanerArgument, dir.name)
	cmd.Stdin = stdin
	cmd.ExtraFiles = []*os.File{dir.parent}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		pipe.Close()
		return nil, fmt.Errorf("starting the cleaner of %s: %w", dir.path(), err)
	}
	return &cleaner{cmd, pipe, dir}, nil
}

// end unlocks the directory, has the cleaner remove it, and waits until it is gone.
func (c *cleaner) end() {
	defer c.dir.close()
	c.dir.unlock()
	c.pipe.Close()
	if c.cmd.Wait() == nil {
		return
	}
	// It was killed. A sweep of somebody else may be at it.
	if d, err := openOwnDir(c.dir.parent, c.dir.name); err == nil {
		_ = d.remove()
		d.close()
	}
}

// cleanFor is how long a cleaner tries: a dying guest may still make files.
const cleanFor = 5 * time.Second

// clean is a cleaner: it waits until its standard input ends, whose other end the
// process that uses the directory has open, and removes it, like a sweep: only
// where it is this user's own and not in use.
func clean(name string) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	_, _ = io.Copy(io.Discard, os.Stdin)
	parent := os.NewFile(cleanerParentFD, "scratch")
	var err error
	for until := time.Now().Add(cleanFor); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		var d *ownDir
		if d, err = openOwnDir(parent, name); errors.Is(err, unix.ENOENT) {
			return nil
		}
		if errors.Is(err, unix.EWOULDBLOCK) {
			continue // the process that was killed still ends
		}
		if err != nil {
			break
		}
		err = d.remove()
		d.close()
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s is left: %w", name, err)
}
