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

// lockedElsewhere reports whether another process has locked a file as lockFile does. A
// read lock, which whoever may read the file can have, is none.
func lockedElsewhere(file *os.File) bool {
	lock := byteLock(0)
	lock.Type = unix.F_RDLCK // which a write lock alone is in the way of
	err := unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &lock)
	return err == nil && lock.Type != unix.F_UNLCK || err != nil && !lacksLocks(err)
}

// lockHolder returns a process that keeps this one from locking a file: -1 if it cannot
// be told which, as of a lock of an open file, 0 if there is none by now.
func lockHolder(file *os.File) (pid int) {
	lock := byteLock(0)
	if unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &lock) != nil || lock.Type == unix.F_UNLCK {
		return 0
	}
	return int(lock.Pid)
}

// lockByte locks one byte of a file, which need not have it.
func lockByte(file *os.File, at int64) error {
	lock := byteLock(at)
	return unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &lock)
}

func byteLock(at int64) unix.Flock_t { return unix.Flock_t{Type: unix.F_WRLCK, Start: at, Len: 1} }
