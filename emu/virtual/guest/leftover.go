package guest

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A process that is killed takes its guest with it, memory and all, but cannot
// remove the private directory: two small files. The next guest does.

const (
	dirPrefix = "sirdbed-guest-"
	lockFile  = "lock" // held by the process that made the directory
	// newborn is how old a directory is at least by the time that it is held.
	newborn = time.Minute
)

// holdDir marks a private directory as in use for as long as the file is open.
func holdDir(dir string) (*os.File, error) {
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

// sweep removes the private directories that killed processes have left.
func sweep(parent string) {
	list, _ := filepath.Glob(filepath.Join(parent, dirPrefix+"*"))
	for _, dir := range list {
		info, err := os.Stat(dir)
		if err != nil || time.Since(info.ModTime()) < newborn {
			continue
		}
		file, err := os.Open(filepath.Join(dir, lockFile))
		if err != nil {
			if os.IsNotExist(err) {
				_ = os.RemoveAll(dir) // it was killed before it held it
			}
			continue // another user's
		}
		if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(dir)
		}
		file.Close()
	}
}
