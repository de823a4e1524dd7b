//go:build linux

// Package rlimit compares what a run takes with what the system lets a process have
// (getrlimit(2)), before anything is made.
package rlimit

import (
	"fmt"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
)

// An Error is that of a limit which is too low. It matches emu.ErrNotSupported.
type Error struct {
	unit       string
	need, have uint64
	remedy     string
}

func (e *Error) Error() string {
	return fmt.Sprintf("the run takes %d %s, and a process may have %d here: %s", e.need, e.unit, e.have, e.remedy)
}

// Is implements errors.Is.
func (e *Error) Is(target error) bool { return target == emu.ErrNotSupported }

// Descriptors returns an error if a process may not have so many files open. The soft
// limit does not count: Go raises it to the hard one.
func Descriptors(need int) error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil || l.Max >= uint64(need) {
		return nil
	}
	return &Error{unit: "open files", need: uint64(need), have: l.Max, remedy: fmt.Sprintf(
		"raise it as root, with ulimit -n %d in the shell that starts sirdbed, as nofile in "+
			"/etc/security/limits.conf, or as LimitNOFILE of a systemd unit", need)}
}

// goReserve is what a Go program reserves of its address space before it has used any,
// with what its threads and the rings of a host come to.
const goReserve = 2 << 30

// AddressSpace returns an error if a process may not have more bytes of addresses than
// what a Go program takes anyway.
func AddressSpace(more int64) error {
	need := goReserve + uint64(more)
	for _, limit := range []struct {
		which  int
		option string
	}{{unix.RLIMIT_AS, "-v"}, {unix.RLIMIT_DATA, "-d"}} {
		var l unix.Rlimit
		if err := unix.Getrlimit(limit.which, &l); err != nil || l.Cur >= need {
			continue
		}
		return &Error{unit: "MB of addresses", need: need >> 20, have: l.Cur >> 20, remedy: fmt.Sprintf(
			"lift the limit with ulimit %s unlimited (it says little about memory: programs reserve more than they "+
				"use; a cgroup limits what they use)", limit.option)}
	}
	return nil
}

// FileSize returns an error if a process may not make a file of a size in bytes.
func FileSize(size int64) error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &l); err != nil || l.Cur >= uint64(size) {
		return nil
	}
	return &Error{unit: "MB in a file", need: uint64(size) >> 20, have: l.Cur >> 20,
		remedy: "lift the limit with ulimit -f unlimited"}
}

// Raise gives a process all that it may have open. It is best effort.
func Raise(pid int) {
	var l unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &l) == nil && l.Cur < l.Max {
		l.Cur = l.Max
		_ = unix.Prlimit(pid, unix.RLIMIT_NOFILE, &l, nil)
	}
}
