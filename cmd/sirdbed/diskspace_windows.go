package main

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// diskFullErrors are what a write to a full disk fails with.
var diskFullErrors = []syscall.Errno{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL}

// diskSpace asks the file system of a directory how many bytes this user can
// still write.
func diskSpace(dir string) (int64, error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
	return int64(free), err
}
