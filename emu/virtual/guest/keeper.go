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
// remove the private directory. Its keeper does: this program again, in a
// session of its own, which waits until it is alone.

// keeperArgument is the first argument with which this program is started as a
// keeper, the directory the second.
const keeperArgument = "guest-keeper"

// A keeper is a keeper's process, as seen by the one that it outlives.
type keeper struct {
	cmd  *exec.Cmd
	life *os.File // closed by this process's end, if by nothing else
}

func startKeeper(dir string) (*keeper, error) {
	stdin, life, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	cmd := exec.Command("/proc/self/exe", keeperArgument, dir)
	cmd.Stdin = stdin
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		life.Close()
		return nil, fmt.Errorf("starting the keeper of %s: %w", dir, err)
	}
	return &keeper{cmd, life}, nil
}

// end has the keeper remove the directory, and waits until it is gone.
func (k *keeper) end() {
	k.life.Close()
	_ = k.cmd.Wait()
}

// keepFor is how long a keeper tries: a dying guest may still make files.
const keepFor = 5 * time.Second

// keep is a keeper: it waits until its standard input ends, which is held by the
// process that uses dir, and removes dir.
func keep(dir string) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	_, _ = io.Copy(io.Discard, os.Stdin)
	var err error
	for until := time.Now().Add(keepFor); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if held(dir) {
			continue
		}
		err = os.RemoveAll(dir)
		if _, gone := os.Lstat(dir); err == nil && os.IsNotExist(gone) {
			return nil
		}
	}
	return fmt.Errorf("%s is still there: %w", dir, err)
}

// held tells whether a living process has a private directory in use.
func held(dir string) bool {
	file, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return false
	}
	defer file.Close()
	return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
}
