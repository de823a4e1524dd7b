//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Options are how to build. The zero value builds from the distribution's
// source.
type Options struct {
	Source string // a tarball; "" is the distribution's
	Force  bool   // build even what is in the cache
	// Step, when set, is called with what is done now.
	Step func(text string)
	// Compiled, when set, is called with how many files have been compiled, of about how
	// many.
	Compiled func(n, of int)
	// Verify tries the kernel before it is put into the cache.
	Verify func(path string) error
}

// Build builds the guest's kernel and puts it into the cache. A compilation that
// was interrupted goes on where it was; of any other part nothing is left. fresh
// is false when there was nothing to do.
func (c Cache) Build(ctx context.Context, o Options) (b Built, fresh bool, err error) {
	source, err := FindSource(o.Source)
	if err != nil {
		if b, found := c.Find(); found == nil && o.Source == "" && !o.Force {
			return b, false, nil
		}
		return b, false, err
	}
	info, err := os.Stat(source)
	if err != nil {
		return b, false, err
	}
	unlock, err := c.lock()
	if err != nil {
		return b, false, err
	}
	defer unlock()
	if b, err = c.Find(); err == nil && !o.Force && b.Source == source && b.Size == info.Size() &&
		b.Changed.Equal(info.ModTime()) {
		return b, false, nil
	}
	if err := c.check(); err != nil {
		return b, false, err
	}
	started := time.Now()
	w := &work{cache: c, options: o, source: source}
	if err := w.run(ctx); err != nil {
		return b, false, c.explain(err)
	}
	b = Built{
		Version: w.version, Hash: hash(), Source: source, Size: info.Size(), Changed: info.ModTime(),
		When: time.Now(), Seconds: time.Since(started).Seconds(),
	}
	if b, err = c.keep(b, filepath.Join(c.tree(), "linux")); err != nil {
		return b, false, c.explain(err)
	}
	w.step("removing the build tree")
	return b, true, os.RemoveAll(c.tree())
}

// lockTimeout is how long the tools of a build that was killed may take to end.
const lockTimeout = 30 * time.Second

// lock keeps two builds apart, and the tools of a build that was killed from the
// next one: they inherit it.
func (c Cache) lock() (unlock func(), err error) {
	if err := trusted(string(c), mendCache); err != nil {
		return nil, fmt.Errorf("the kernel's cache directory: %w", err)
	}
	const remedy = "set XDG_CACHE_HOME to a directory that you may write to"
	if err := os.MkdirAll(string(c), 0o755); err != nil {
		return nil, fmt.Errorf("the kernel's cache directory: %w: %s", err, remedy)
	}
	if err := trusted(string(c), mendCache); err != nil { // somebody else may have been faster to make it
		return nil, fmt.Errorf("the kernel's cache directory: %w", err)
	}
	path := filepath.Join(string(c), "lock")
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT, 0o644)
	if err != nil {
		return nil, fmt.Errorf("the kernel's cache directory %s: %w: %s", c, err, remedy)
	}
	for until := time.Now().Add(lockTimeout); ; time.Sleep(50 * time.Millisecond) {
		if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			// Whose it is: best effort, since it only saves waiting.
			_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o644)
			return func() { unix.Close(fd) }, nil
		}
		if ownerLives(path) || time.Now().After(until) {
			unix.Close(fd)
			return nil, fmt.Errorf("another sirdbed is at work on the kernel in %s: wait for it", c)
		}
	}
}

// ownerLives reports whether the process that took the lock still lives.
func ownerLives(path string) bool {
	text, _ := os.ReadFile(path)
	pid, err := strconv.Atoi(string(text))
	return err == nil && unix.Kill(pid, 0) != unix.ESRCH
}

// explain adds what to do about a full disk. Then nothing of the build is left on
// it.
func (c Cache) explain(err error) error {
	output := strings.ToLower(err.Error()) // by tar, gcc, or the kernel
	if !strings.Contains(output, unix.ENOSPC.Error()) && !strings.Contains(output, unix.EDQUOT.Error()) {
		return err
	}
	if e := os.RemoveAll(c.tree()); e != nil {
		return errors.Join(err, e)
	}
	return fmt.Errorf("the disk with %s is full: building the kernel takes %d MB there, so free some, or set "+
		"XDG_CACHE_HOME to a directory on another", c, diskNeeded>>20)
}
