package main

import "os"

// keepLock locks nothing and returns nil: here a file that is open gets no other name.
func keepLock(*os.File) (*os.File, error) { return nil, nil }

// lockedMoves reports whether a directory can be renamed that has a locked file in it.
const lockedMoves = false
