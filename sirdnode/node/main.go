//go:build linux

package node

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// logFile is the descriptor of a host process on which its record log is open.
const logFile = 3

// Environment is what host processes have in theirs besides what they inherit.
var Environment = []string{"GOMAXPROCS=1", "GOGC=400"}

// Main is a host process as the controller starts it: its configuration comes on
// standard input, its status goes to standard output. It returns the exit code.
func Main() int {
	if !logIsOpen() {
		fmt.Fprintln(os.Stderr, "this is the process of one host, which `sirdbed run` starts "+
			"in each namespace of a fabric: it is of no use by itself")
		return 2
	}
	if err := Run(0, os.Stdout, os.NewFile(logFile, "log")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// logIsOpen reports whether logFile is a file to write to. Without a controller it
// is closed, or the Go runtime has used the number for a file of its own.
func logIsOpen() bool {
	var stat unix.Stat_t
	flags, err := unix.FcntlInt(logFile, unix.F_GETFL, 0)
	if err != nil || unix.Fstat(logFile, &stat) != nil {
		return false
	}
	return stat.Mode&unix.S_IFMT == unix.S_IFREG && flags&unix.O_ACCMODE != unix.O_RDONLY
}
