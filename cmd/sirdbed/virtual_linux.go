//go:build !portable

package main

import (
	"fmt"
	"os"

	"sirdbed/capture"
	"sirdbed/emu"
	"sirdbed/emu/virtual"
	"sirdbed/emu/virtual/guest"
	"sirdbed/emu/virtual/kernel"
	"sirdbed/topo"
)

// guestCommand is the argument with which sirdbed is started in a guest to
// control a run there.
const guestCommand = "guest-run"

// virtualEngine makes the virtual engine with the kernel in the user's cache, which
// run has found and locked.
func virtualEngine() emu.Engine {
	built, _ := findKernel()
	return &virtual.Engine{
		Kernel: built.Path, Command: []string{"/proc/self/exe", guestCommand}, NodeCommand: hostCommand,
	}
}

// findKernel returns the guest's kernel.
func findKernel() (kernel.Built, error) {
	if path := os.Getenv(kernelVar); path != "" {
		return kernel.Built{Path: path, Version: "of $" + kernelVar}, nil
	}
	cache, err := kernel.UserCache()
	if err != nil {
		return kernel.Built{}, err
	}
	return cache.Find()
}

// lockKernel keeps the guest's kernel from being removed until release is called.
func lockKernel() (release func(), err error) {
	built, err := findKernel()
	if err != nil {
		return nil, err
	}
	if release, err = built.Lock(); err != nil {
		err = fmt.Errorf("the virtual engine's kernel: %w", err)
	}
	return release, err
}

// kernelVar names a kernel to use instead of the cache's.
const kernelVar = "SIRDBED_KERNEL"

// controlGuest is the controller inside a guest.
func controlGuest() int {
	if len(os.Args) != 3 || !guest.StartedByInit() {
		fmt.Fprintf(os.Stderr, "%s: %v\n", guestCommand, guest.ErrCaller)
		return exitBadInput
	}
	err := virtual.Inside(os.Args[2],
		func(file *os.File, f *topo.Fabric, node *topo.Node) (emu.Capture, error) {
			return capture.Create(file, f, node)
		})
	if err != nil {
		fmt.Println(err)
		return exitFailed
	}
	return exitFine
}
