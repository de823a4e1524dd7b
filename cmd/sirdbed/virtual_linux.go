//go:build !portable

package main

import (
	"fmt"
	"os"
	"sync"

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
// whatever becomes of the cache meanwhile: its variants have one. An engine that nothing is
// reserved for can check experiments.
func virtualKind() engineKind {
	reserved := &sharedKernel{open: openKernel}
	return engineKind{
		asCaller: true,
		reserve:  reserved.reserve,
		guests:   virtual.MostGuests,
		merge:    func(dir emu.RunDir, x *emu.Experiment) error { return virtual.MergeQueues(dir, x.Guests) },
		atOnce:   func(x *emu.Experiment, n int) int { return (&virtual.Engine{}).AtOnce(x, n) },
		make: func(up whileUp) emu.Engine {
			e := &virtual.Engine{
				Met:         up.met,
				Command:     []string{"/proc/self/exe", guestCommand},
				NodeCommand: hostCommand,
			}
			e.Kernel, e.KernelName = reserved.names()
			return e
		},
	}
}

// A sharedKernel is a kernel that is open as long as any run has it reserved. It may be used from
// any goroutine.
type sharedKernel struct {
	open func() (*os.File, error)

	mu   sync.Mutex
	file *os.File // nil: no run has it
	runs int      // that have it
}

func (k *sharedKernel) reserve() (release func(), err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.runs == 0 {
		if k.file, err = k.open(); err != nil {
			return nil, err
		}
	}
	k.runs++
	return sync.OnceFunc(func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.runs--; k.runs == 0 {
			k.file.Close()
			k.file = nil
		}
	}), nil
}

// names returns by which path the kernel can be executed, and what errors call it.
func (k *sharedKernel) names() (path, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file == nil {
		return "", ""
	}
	return fmt.Sprintf("/proc/self/fd/%d", k.file.Fd()), kernelName(k.file)
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
