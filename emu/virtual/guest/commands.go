//go:build linux

package guest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Commands from the machine for the command in a guest, one after the other. While that
// waits for the next one no time passes: it asks again and again, by system calls that
// take none, and the kernel's process is stopped meanwhile, so that it costs nothing.
//
// Command n is the file commandDir/n, its input commandDir/n.in. The link turnLink leads to
// the number of the latest: a guest reads links anew each time.
const (
	commandDir = guestDir + "/commands"
	turnLink   = guestDir + "/turn"
	idleMark   = "#idle " // and the number of commands that have been done
)

// Commands is the machine's end. Its methods are safe for concurrent use.
type Commands struct {
	mu      sync.Mutex
	dir     *ownDir // nil before the guest has one
	pid     int     // the kernel's process, 0 before there is one
	issued  int
	stopped bool
}

// errNoGuest is the error of a command for a guest that is not there.
var errNoGuest = errors.New("the guest is not up")

// begin makes room for commands in a scratch directory.
func (c *Commands) begin(dir *ownDir) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dir = dir
	return errors.Join(dir.root.Mkdir(commandDir, 0o700), dir.root.Symlink("0", turnLink))
}

func (c *Commands) started(pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pid = pid
}

func (c *Commands) ended() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dir, c.pid = nil, 0
}

// Issue gives the guest a command with an input, and returns its number, from 1.
func (c *Commands) Issue(text, input []byte) (number int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == nil || c.pid == 0 {
		return 0, errNoGuest
	}
	next := c.issued + 1
	file := commandFile(next)
	const link = turnLink + ".new"
	err = errors.Join(c.dir.root.WriteFile(file, text, 0o600), c.dir.root.WriteFile(file+inputSuffix, input, 0o600))
	if err == nil {
		err = c.dir.root.Symlink(strconv.Itoa(next), link)
	}
	if err == nil {
		err = c.dir.root.Rename(link, turnLink)
	}
	if err != nil {
		return 0, fmt.Errorf("command for the guest: %w", err)
	}
	c.issued = next
	if c.stopped {
		c.stopped = false
		err = unix.Kill(c.pid, unix.SIGCONT)
	}
	return next, err
}

// idle stops the kernel if it has done all commands. done is from its console.
func (c *Commands) idle(done string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, err := strconv.Atoi(done); err == nil && n == c.issued && c.pid != 0 {
		c.stopped = unix.Kill(c.pid, unix.SIGSTOP) == nil
	}
}

// isStopped reports whether time stands still because nothing is to be done.
func (c *Commands) isStopped() bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped
}

const inputSuffix = ".in"

func commandFile(number int) string { return fmt.Sprintf("%s/%d", commandDir, number) }

// A Command is one as the guest sees it.
type Command struct {
	Number int
	Text   []byte
	Input  string // a file
}

// NextCommand returns the command after number done, if it has been given.
func NextCommand(done int) (c Command, ok bool, err error) {
	latest, err := turn()
	if err != nil || latest <= done {
		return c, false, err
	}
	path := filepath.Join(os.Getenv(DirVar), commandFile(done+1))
	c = Command{Number: done + 1, Input: path + inputSuffix}
	c.Text, err = os.ReadFile(path)
	return c, err == nil, err
}

// AwaitCommand returns when a command after number done has been given. No time passes
// meanwhile.
func AwaitCommand(done int) error {
	fmt.Printf("%s%d\n", idleMark, done)
	for {
		latest, err := turn()
		if err != nil || latest > done {
			return err
		}
	}
}

// turn is the number of the latest command.
func turn() (int, error) {
	text, err := os.Readlink(filepath.Join(os.Getenv(DirVar), turnLink))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}

// spunDir has a file for each program that was ended because it spun, of the name that
// SpinVar has.
const spunDir = guestDir + "/spun"

// Spun reports whether a program of this guest was ended because it spun: see
// Config.SpinLimit. name is what SpinVar has in its environment.
func Spun(name string) bool {
	_, err := os.Stat(filepath.Join(os.Getenv(DirVar), spunDir, filepath.Base(name)))
	return err == nil
}
