//go:build !portable

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/capture/report"
	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/fabric/device"
	"sirdbed/emu/sandbox"
)

// A run takes devices by its worker, inside the sandbox, where nobody else can be sure to
// outlive it. Two outside can: the front, once the sandbox has ended, and its restorer, a
// process of its own that waits until front, supervisor and worker all have ended. Where
// all are killed, clean does it, or the next run that takes devices.

// restorerCommand is the inner command of a restorer. Its standard input is a pipe that
// ends with the run, restorerMachineFD the machine's network namespace.
const restorerCommand = "device-restorer"

const restorerMachineFD = 3

// restoreFor is how long a restorer waits for records that are locked: by a process of its
// run that just ends, or by another run, which it cannot tell.
const restoreFor = 500 * time.Millisecond

// A deviceGuard is what a front has of a run that takes devices.
type deviceGuard struct {
	machine  *os.File // the front's network namespace
	run      *os.File // the pipe that ends with the run
	listener *os.File // where peers join, nil if none do
	restorer *exec.Cmd
}

// guardDevices starts what makes devices again what they were, nil where a run takes none.
func guardDevices(experiments []emu.Experiment, peers joining) (_ *deviceGuard, err error) {
	taken := false
	for i := range experiments {
		taken = taken || len(experiments[i].Hosts) > 0
	}
	if !taken {
		return nil, nil
	}
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("hosts of the scenario are devices of this machine, which root alone can take: " +
			"run it with sudo, or leave out hosts")
	}
	os.Setenv(runtimeDirVar, runtimeDir())
	if _, err := restoreDevices(0); err != nil {
		return nil, err
	}
	g := &deviceGuard{}
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	if g.machine, err = os.Open("/proc/self/ns/net"); err != nil {
		return nil, err
	}
	if peers.listen != "" {
		if g.listener, err = listenForPeers(peers, hostsThatJoin(experiments)); err != nil {
			return nil, err
		}
	}
	stdin, run, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	g.run = run
	g.restorer = exec.Command("/proc/self/exe", restorerCommand)
	g.restorer.Stdin, g.restorer.Stderr = stdin, os.Stderr
	g.restorer.ExtraFiles = []*os.File{g.machine} // restorerMachineFD
	g.restorer.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := g.restorer.Start(); err != nil {
		return nil, fmt.Errorf("starting the restorer of devices: %w", err)
	}
	return g, nil
}

func (g *deviceGuard) close() {
	for _, f := range []*os.File{g.machine, g.run, g.listener} {
		if f != nil {
			f.Close()
		}
	}
}

// keep has a sandbox keep what its worker takes devices with. A nil guard has nothing.
func (g *deviceGuard) keep(box *sandbox.Sandbox) {
	if g != nil {
		box.Keep(g.machine)
		box.Keep(g.run)
	}
	if g != nil && g.listener != nil {
		box.Keep(g.listener)
	}
}

// end waits until devices are what they were, after the sandbox has ended.
func (g *deviceGuard) end() error {
	if g == nil {
		return nil
	}
	g.close()
	if g.restorer.Wait() == nil {
		return nil
	}
	_, err := restoreDevices(restoreFor) // it was killed
	return err
}

// restoreDevices makes the devices again what they were that killed runs have taken from
// this process's network namespace.
func restoreDevices(wait time.Duration) (names []string, err error) {
	dir, err := openRuntimeDir()
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return device.Journal{Dir: dir}.Restore(wait)
}

// warnOfDevicesElsewhere names the devices that killed runs have left in other namespaces.
func warnOfDevicesElsewhere(w io.Writer) error {
	dir, err := openRuntimeDir()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	list, err := device.Journal{Dir: dir}.Elsewhere()
	for _, r := range list {
		fmt.Fprintf(w, "warning: a killed run has changed the device %s in the network namespace %s: "+
			"run sirdbed clean there\n", report.Printable(r.Before.Name), report.Printable(r.Namespace))
	}
	return err
}

// restoreAfterRun is a restorer.
func restoreAfterRun() (exitCode int) {
	var stat unix.Stat_t
	var system unix.Statfs_t
	if unix.Fstat(0, &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFIFO ||
		unix.Fstatfs(restorerMachineFD, &system) != nil || system.Type != unix.NSFS_MAGIC {
		fmt.Fprintf(os.Stderr, "%s: %v\n", restorerCommand, emu.ErrInner)
		return exitBadInput
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	_, _ = io.Copy(io.Discard, os.Stdin)
	if _, err := restoreDevices(restoreFor); err != nil {
		fmt.Fprintf(os.Stderr, "sirdbed: %v\n", err)
		return exitFailed
	}
	return exitFine
}

// deviceMachine is where the worker of a sandbox takes devices from, nil where its front
// has found none to take.
var deviceMachine = sync.OnceValue(func() *device.Machine {
	kept := sandbox.Kept()
	if len(kept) == 0 {
		return nil
	}
	dir, err := makeRuntimeDir()
	return &device.Machine{FD: kept[0], Journal: device.Journal{Dir: dir}, Enter: func(f func() error) error {
		if err != nil {
			return err
		}
		return fabric.Within(kept[0], f)
	}}
})
