package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sirdbed/emu/tree"
)

// A point's run has its files in a scratch directory, in the one for temporary files. A lock
// beside it, SCRATCH.lock, shows that its process lives: it is there and locked before the
// directory is made, and removed after it. So whoever can take the lock of a directory, or
// finds none, has one whose process was killed.

const (
	scratchPrefix = "sirdbed-points-"
	lockSuffix    = ".lock"
	// scratchTries is how often a new lock may be taken for one of a process that was killed.
	scratchTries = 100
)

// A scratch is the directory of a run whose files nobody keeps.
type scratch struct {
	path string
	lock *os.File
}

// makeScratch makes a scratch directory, locked.
func makeScratch() (*scratch, error) {
	for range scratchTries {
		path := filepath.Join(os.TempDir(), scratchPrefix+rand.Text()[:10])
		lock, err := os.OpenFile(path+lockSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s := &scratch{path, lock}
		if err := lockFile(lock); err != nil && !lacksLocks(err) || !s.isThere() {
			lock.Close() // a sweep has it
			continue
		}
		if err := os.Mkdir(path, 0o700); err != nil {
			return nil, errors.Join(err, s.remove())
		}
		return s, nil
	}
	return nil, fmt.Errorf("%s: %d new locks were removed at once", os.TempDir(), scratchTries)
}

// tryScratch finds out whether runs can have their files.
func tryScratch() error {
	s, err := makeScratch()
	if err == nil {
		err = s.remove()
	}
	if err != nil {
		return fmt.Errorf("runs have their files in %s, which does not take them: set TMPDIR to another directory: %w",
			os.TempDir(), err)
	}
	return nil
}

// isThere reports whether the lock still has its name.
func (s *scratch) isThere() bool {
	named, err1 := os.Lstat(s.path + lockSuffix)
	open, err2 := s.lock.Stat()
	return err1 == nil && err2 == nil && os.SameFile(named, open)
}

// open opens the directory.
func (s *scratch) open() (*tree.Dir, error) { return tree.Open(s.path) }

// remove removes the directory, and then the lock.
func (s *scratch) remove() error {
	err := os.RemoveAll(s.path)
	if err == nil && lockedMoves { // where a file that is open can be removed
		err = os.Remove(s.path + lockSuffix)
	}
	err = errors.Join(err, s.lock.Close())
	if !lockedMoves {
		err = errors.Join(err, os.Remove(s.path+lockSuffix))
	}
	return err
}

// sweepScratch removes the scratch directories of this user's that killed processes have
// left, and returns their paths. What cannot be removed stays.
func sweepScratch() (removed []string) {
	parent, err := os.OpenRoot(os.TempDir())
	if err != nil {
		return nil
	}
	defer parent.Close()
	entries, err := fs.ReadDir(parent.FS(), ".")
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), lockSuffix)
		if !strings.HasPrefix(name, scratchPrefix) || seen[name] {
			continue
		}
		seen[name] = true
		if there, err := sweepOne(parent, name); err == nil && there {
			removed = append(removed, filepath.Join(os.TempDir(), name))
		}
	}
	return removed
}

// sweepOne removes a scratch directory and its lock, unless its process lives or it is
// another user's. there reports whether there was a directory.
func sweepOne(parent *os.Root, name string) (there bool, err error) {
	info, err := parent.Lstat(name)
	if there = err == nil; there && !(info.IsDir() && isOwn(info)) {
		return false, errors.New("it is another user's")
	}
	lock, err := parent.OpenFile(name+lockSuffix, os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return false, err
	default:
		defer lock.Close()
		if info, err := lock.Stat(); err != nil || !info.Mode().IsRegular() || !isOwn(info) {
			return false, errors.New("its lock is another user's")
		}
		if err := lockFile(lock); err != nil {
			return false, err
		}
	}
	if there {
		if err := parent.RemoveAll(name); err != nil {
			return false, err
		}
	}
	if lock == nil {
		return there, nil
	}
	if !lockedMoves {
		lock.Close()
	}
	return there, parent.Remove(name + lockSuffix)
}
