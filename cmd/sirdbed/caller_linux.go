//go:build !portable

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"sirdbed/emu/rights"
)

// Only the engine real needs root. What else is called by sudo runs as the user who
// called it: the guest's kernel is that user's file, and what it writes too.

// leaveRoot runs this command line again as the user who called sudo, if one did, in
// this process's place. out is the directory that the command writes to, if any.
func leaveRoot(what, out string) error {
	if !ownProcess {
		return nil
	}
	caller, err := rights.SudoCaller()
	if caller == nil {
		return err
	}
	if out != "" {
		if out, err = filepath.Abs(out); err != nil {
			return err
		}
	}
	if err := caller.Become(); err != nil {
		return err
	}
	if out != "" && !rights.Writable(out) {
		return badInput(fmt.Errorf("%s: under sudo %s runs as the user who called it, and %s may not write there: "+
			"name a directory of %s's with --out", out, what, caller.Name, caller.Name))
	}
	env := caller.Environment(os.Environ(), rights.Writable)
	if err := syscall.Exec("/proc/self/exe", os.Args, env); err != nil {
		return fmt.Errorf("under sudo %s runs as the user who called it, and %s may not execute sirdbed: %w: "+
			"put it where %s may, such as in /usr/local/bin", what, caller.Name, err, caller.Name)
	}
	return nil // not reached
}
