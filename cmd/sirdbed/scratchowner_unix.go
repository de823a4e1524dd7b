//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a file is this user's, and nobody else may write to it.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}
