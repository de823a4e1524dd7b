package node

import (
	"fmt"
	"os"
)

// logFile is the descriptor of a host process on which its record log is open.
const logFile = 3

// Main is a host process as the controller starts it: its configuration comes on
// standard input, its status goes to standard output. It returns the exit code.
func Main() int {
	log := os.NewFile(logFile, "log")
	if _, err := log.Stat(); err != nil {
		fmt.Fprintln(os.Stderr, "this is the process of one host, which `sirdbed run` starts in each namespace of a "+
			"fabric: it is of no use by itself")
		return 2
	}
	if err := Run(0, os.Stdout, log); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
