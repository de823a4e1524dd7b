//go:build linux

package guest

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A machine that is switched off, or a cleaner that is killed too, leaves private
// directories: a few small files each. The next guest removes them.

const (
	dirPrefix = "sirdbed-guest-"
	lockFile  = "lock" // locked by the process that made the directory
	// minAge is how old a directory is at least by the time that it is locked.
	minAge = 3 * time.Second
)

// lockDir marks a scratch directory as in use for as long as the file is open.
func lockDir(dir string) (*os.File, error) {
	file, err := os.Create(filepath.Join(dir, lockFile))
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// sweep removes the scratch directories that killed processes have left.
func sweep(parent string) {
	list, _ := filepath.Glob(filepath.Join(parent, dirPrefix+"*"))
	for _, dir := range list {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < minAge || inUse(dir) {
			continue
		}
		_ = os.RemoveAll(dir) // another user's stays
	}
}
