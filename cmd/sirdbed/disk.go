package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// explainDisk says what to do about a full disk, in one line however many files
// did not fit. Other errors stay as they are.
func explainDisk(err error, dir string) error {
	if err == nil || !diskFull(err) {
		return err
	}
	what := err.Error()
	for line := range strings.Lines(what) {
		if diskFull(errors.New(line)) {
			what = strings.TrimSpace(line)
			break
		}
	}
	return fmt.Errorf("the disk with %s is full: free some space, or put results elsewhere with --out (%s)", dir, what)
}

// diskFull tells whether an error is that of a full disk, here or, by its word,
// in a host process.
func diskFull(err error) bool {
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, full) || strings.Contains(err.Error(), full.Error()) {
			return true
		}
	}
	return false
}

// humanSize is a number of bytes with three digits and a unit of 1000s: 31.6 MB.
func humanSize(bytes int64) string {
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	size, unit := float64(bytes), ""
	for _, unit = range []string{"KB", "MB", "GB", "TB", "PB"} {
		if size /= 1000; size < 999.5 {
			break
		}
	}
	switch {
	case size < 9.995:
		return fmt.Sprintf("%.2f %s", size, unit)
	case size < 99.95:
		return fmt.Sprintf("%.1f %s", size, unit)
	}
	return fmt.Sprintf("%.0f %s", size, unit)
}
