//go:build !linux || portable

package main

import (
	"errors"
	"os"
	"os/exec"
)

// frontViewer is for the engine real.
func frontViewer() (*exec.Cmd, *os.File, error) { return nil, nil, errors.ErrUnsupported }

// sandboxViewing returns nil: here is no sandbox.
func sandboxViewing() *viewing { return nil }

func ignoreTerminalSignals() {}

func giveWay() {}
