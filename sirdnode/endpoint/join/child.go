//go:build linux

package join

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu/thread"
	"sirdbed/sirdnode/node"
)

// logEvery is how often a log is looked at for what is new.
const logEvery = 250 * time.Millisecond

// finishTime is how long a host process may take from the end of its standard input to its
// own.
const finishTime = 3 * time.Second

// Children are the host processes of a peer, of which one lives at a time.
type children struct {
	line    *line
	command []string
	runs    func(bool)

	mu  sync.Mutex
	now *child // nil before the first
	// stopped is why this end has the process finish, nil if it has not.
	stopped error
}

type child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	log   *os.File
	sent  int64         // of the log
	done  chan struct{} // closed when it has ended, and all of its log is sent
	told  chan struct{} // closed when the run has been told, too
}

// A frames is a writer whose bytes become frames.
type frames struct {
	line *line
	kind kind
}

func (f frames) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	return len(b), f.line.send(f.kind, b)
}

// start starts a process. If that fails the run is told; an error is the connection's.
func (c *children) start() error {
	k, err := c.begin()
	if err != nil {
		return c.line.send(ended, []byte("starting the host process: "+err.Error()))
	}
	if c.runs != nil {
		c.runs(true)
	}
	go func() {
		how := k.attend(c.line)
		if c.runs != nil {
			c.runs(false)
		}
		close(k.done)
		text := ""
		if how = cmp.Or(c.reason(), how); how != nil {
			text = how.Error()
		}
		_ = c.line.send(ended, []byte(text)) // who receives finds out
		close(k.told)
	}()
	return nil
}

func (c *children) begin() (*child, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now != nil && !c.now.over() {
		return nil, errors.New("the last one has not ended")
	}
	fd, err := unix.MemfdCreate("log", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memory for its log: %w", err)
	}
	k := &child{log: os.NewFile(uintptr(fd), "log"), done: make(chan struct{}), told: make(chan struct{})}
	k.cmd = exec.Command(c.command[0], c.command[1:]...)
	k.cmd.Env = append(os.Environ(), node.Environment...)
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	k.cmd.ExtraFiles = []*os.File{k.log}
	k.cmd.Stdout, k.cmd.Stderr = frames{c.line, stdout}, frames{c.line, stderr}
	if k.stdin, err = k.cmd.StdinPipe(); err == nil {
		err = thread.StartForLife(k.cmd)
	}
	if err != nil {
		k.log.Close()
		return nil, err
	}
	c.now = k
	return k, nil
}

// attend sends the log as it grows, and all of it once the process has ended.
func (k *child) attend(l *line) error {
	defer k.log.Close()
	waited := make(chan error, 1)
	go func() { waited <- k.cmd.Wait() }()
	tick := time.NewTicker(logEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := k.ship(l); err != nil {
				_ = k.cmd.Process.Kill() // it may have ended
				<-waited
				return err
			}
		case err := <-waited:
			return errors.Join(err, k.ship(l))
		}
	}
}

// ship sends what is new of the log.
func (k *child) ship(l *line) error {
	buf := make([]byte, longest)
	for {
		n, err := k.log.ReadAt(buf, k.sent)
		if n > 0 {
			if err := l.send(records, buf[:n]); err != nil {
				return err
			}
			k.sent += int64(n)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading its log: %w", err)
		}
	}
}

func (k *child) over() bool {
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}

func (c *children) current() *child {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// write writes to the process's standard input, or closes it. One that has ended takes
// nothing.
func (c *children) write(b []byte) {
	switch k := c.current(); {
	case k == nil:
	case len(b) == 0:
		k.stdin.Close()
	default:
		_, _ = k.stdin.Write(b)
	}
}

func (c *children) kill() {
	if k := c.current(); k != nil {
		_ = k.cmd.Process.Kill() // it may have ended
	}
}

func (c *children) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped
}

// finish has the process end in good order, if there is time for that. The run is told why.
func (c *children) finish(why error) {
	c.mu.Lock()
	k := c.now
	c.stopped = why
	c.mu.Unlock()
	if k == nil {
		return
	}
	k.stdin.Close()
	select {
	case <-k.told:
	case <-time.After(finishTime):
		c.close()
	}
}

// close kills the process.
func (c *children) close() {
	if k := c.current(); k != nil {
		c.kill()
		<-k.told
	}
}
