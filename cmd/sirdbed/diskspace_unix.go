//go:build linux || darwin

package main

import "syscall"

// diskFullErrors are what a write to a full disk, or beyond a quota, fails with.
var diskFullErrors = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}

// diskSpace asks the file system of a directory how many bytes this user can
// still write.
func diskSpace(dir string) (int64, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, err
	}
	return int64(fs.Bavail) * int64(fs.Bsize), nil
}
