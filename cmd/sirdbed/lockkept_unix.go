//go:build unix

package main

import (
	"errors"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// keepLock locks a file until it and what keepLock returns are closed, whatever name
// the file has by then.
func keepLock(file *os.File) (*os.File, error) {
	if err := lockFile(file); err != nil {
		return nil, err
	}
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), file.Name()), nil
}

// lacksLocks reports whether an error of a lock says that the file system has none.
func lacksLocks(err error) bool {
	errno, ok := errors.AsType[syscall.Errno](err)
	return ok && slices.Contains([]syscall.Errno{unix.ENOLCK, unix.EOPNOTSUPP, unix.ENOSYS, unix.EINVAL}, errno)
}

// lockedMoves reports whether a directory can be renamed that has a locked file in it.
const lockedMoves = true
