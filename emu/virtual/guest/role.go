//go:build linux

package guest

import (
	"fmt"
	"os"
	"strings"

	"sirdbed/emu"

	"golang.org/x/sys/unix"
)

// This program plays all roles of a guest but its kernel's. Each is started by an
// argument of its own; main must look for them before anything else.
var roles = map[string]guestRole{
	initArgument:    {forProcessOne, func([]string) error { return Init() }},
	cleanerArgument: {forCleaner, func(args []string) error { return clean(args[0]) }},
	memoryArgument:  {forMemory, func([]string) error { return offerMemory() }},
}

// A guestRole is played if whoever started the program has what sirdbed gives: anybody can
// name an argument.
type guestRole struct {
	given func(args []string) bool
	play  func(args []string) error
}

// Role returns the role for which this process was started, if that is one of a
// guest's. args are the program's, without its name. The error of play matches
// emu.ErrInner if somebody else than sirdbed gave this program the role.
func Role(args []string) (play func() error, ok bool) {
	if len(args) == 0 || roles[args[0]].play == nil {
		return nil, false
	}
	r := roles[args[0]]
	return func() error {
		if !r.given(args[1:]) {
			return fmt.Errorf("%s: %w", args[0], emu.ErrInner)
		}
		return r.play(args[1:])
	}, true
}

// forProcessOne: a kernel starts it first, and adds arguments of its own.
func forProcessOne([]string) bool { return os.Getpid() == 1 }

// forCleaner: standard input is a pipe, and what has the scratch directory of that name
// is open. Whether the directory is this user's own, clean looks.
func forCleaner(args []string) bool {
	return len(args) == 1 && strings.HasPrefix(args[0], dirPrefix) && fileIs(0, unix.S_IFIFO) &&
		fileIs(cleanerParentFD, unix.S_IFDIR)
}

// forMemory: standard input is the socket that takes it.
func forMemory(args []string) bool { return len(args) == 0 && fileIs(0, unix.S_IFSOCK) }

// fileIs reports whether a descriptor is of a file of a kind.
func fileIs(fd int, kind uint32) bool {
	var stat unix.Stat_t
	return unix.Fstat(fd, &stat) == nil && stat.Mode&unix.S_IFMT == kind
}

// StartedByInit reports whether this process is the command in a guest, which process
// 1, this program too, has started.
func StartedByInit() bool {
	if !Inside() || os.Getppid() != 1 {
		return false
	}
	own, err1 := os.Stat("/proc/self/exe")
	its, err2 := os.Stat("/proc/1/exe")
	return err1 == nil && err2 == nil && os.SameFile(own, its)
}
