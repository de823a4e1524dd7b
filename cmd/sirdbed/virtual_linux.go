//go:build !portable

package main

import (
	"fmt"
	"os"

	"sirdbed/capture"
	"sirdbed/emu"
	"sirdbed/emu/rights"
	"sirdbed/emu/virtual"
	"sirdbed/emu/virtual/guest"
	"sirdbed/emu/virtual/kernel"
	"sirdbed/topo"
)

// guestCommand is the argument with which sirdbed is started in a guest to
// control a run there.
const guestCommand = "guest-run"

// virtualKind is the virtual engine. A run executes the kernel that reserve opened,
// whatever becomes of the cache meanwhile: its variants have one.
func virtualKind() engineKind {
	var reserved *os.File
	return engineKind{
		asCaller: true,
		reserve: func() (release func(), err error) {
			if reserved, err = openKernel(); err != nil {
				return nil, err
			}
			return func() { reserved.Close() }, nil
		},
		guests: virtual.MostGuests,
		merge:  func(dir emu.RunDir, x *emu.Experiment) error { return virtual.MergeQueues(dir, x.Guests) },
		atOnce: func(x *emu.Experiment, n int) int { return (&virtual.Engine{}).AtOnce(x, n) },
		make: func(up whileUp) emu.Engine {
			return &virtual.Engine{
				Met:         up.met,
				Kernel:      fmt.Sprintf("/proc/self/fd/%d", reserved.Fd()),
				KernelName:  kernelName(reserved),
				Command:     []string{"/proc/self/exe", guestCommand},
				NodeCommand: hostCommand,
			}
		},
	}
}

// findKernel returns the guest's kernel.
func findKernel() (kernel.Built, error) {
	if path := os.Getenv(kernelVar); path != "" {
		return kernel.Built{Path: path, Version: "of $" + kernelVar, Variable: kernelVar}, nil
	}
	cache, err := kernelCache()
	if err != nil {
		return kernel.Built{}, err
	}
	return cache.Find()
}

// kernelCache is the cache of the user as whom the virtual engine runs.
func kernelCache() (kernel.Cache, error) {
	caller, err := rights.SudoCaller()
	if err != nil {
		return "", err
	}
	if caller != nil {
		return kernel.CacheIn(caller.Cache(os.Environ())), nil
	}
	return kernel.UserCache()
}

// openKernel opens the guest's kernel to execute it.
func openKernel() (*os.File, error) {
	built, err := findKernel()
	if err != nil {
		return nil, err
	}
	file, err := built.Open()
	switch {
	case err != nil && built.Variable != "":
		err = fmt.Errorf("the virtual engine's kernel, which %s names: %w (unset it to use the cache's)",
			built.Variable, err)
	case err != nil:
		err = fmt.Errorf("the virtual engine's kernel: %w", err)
	}
	return file, err
}

// checkKernel returns what keeps the guest's kernel from being executed.
func checkKernel() error {
	file, err := openKernel()
	if err == nil {
		file.Close()
	}
	return err
}

// kernelName is what errors call an open kernel.
func kernelName(file *os.File) string {
	if os.Getenv(kernelVar) != "" {
		return fmt.Sprintf("%s, which %s names (unset it to use the cache's)", file.Name(), kernelVar)
	}
	return file.Name()
}

// kernelVar names a kernel to use instead of the cache's.
const kernelVar = "SIRDBED_KERNEL"

// controlGuest is the controller inside a guest.
func controlGuest() int {
	if len(os.Args) != 3 || !guest.StartedByInit() {
		err := fmt.Errorf("%s: %w", guestCommand, emu.ErrInner)
		fmt.Fprintln(os.Stderr, err)
		return codeOf(err)
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
