package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// Locks of open files (fcntl(2), F_OFD_SETLK), since one can look at them without
// taking them: a lock that a reader held for a moment would keep its owner out.

// lockFile locks a file, which must be open for writing, for this process alone, until
// it is closed. It fails at once if another process has locked it.
func lockFile(file *os.File) error { return lockByte(file, 0) }

// lockedElsewhere reports whether another process has locked a file.
func lockedElsewhere(file *os.File) bool {
	lock := byteLock(0)
	return unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &lock) != nil || lock.Type != unix.F_UNLCK
}

// lockByte locks one byte of a file, which need not have it.
func lockByte(file *os.File, at int64) error {
	lock := byteLock(at)
	return unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &lock)
}

func byteLock(at int64) unix.Flock_t { return unix.Flock_t{Type: unix.F_WRLCK, Start: at, Len: 1} }
