package main

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// keepLock locks nothing and returns nil: here a file that is open gets no other name.
func keepLock(*os.File) (*os.File, error) { return nil, nil }

// lacksLocks reports whether an error of a lock says that the file system has none.
func lacksLocks(err error) bool {
	return errors.Is(err, windows.ERROR_INVALID_FUNCTION) || errors.Is(err, windows.ERROR_NOT_SUPPORTED)
}

// lockedMoves reports whether a directory can be renamed that has a locked file in it.
const lockedMoves = false
