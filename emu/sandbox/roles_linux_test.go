//go:build linux

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric"
	"sirdbed/emu/sandbox"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// The test binary also plays the roles of a run:
//
//	front       enters a sandbox and waits
//	lost        the same, and what it starts gets no death signal
//	flees       the same, and it is gone at once
//	interrupts  enters a sandbox, interrupts it at once, and waits
//	worker      inside it: builds a fabric, starts a host process and an orphan
//	host        sleeps in a host's namespace
//	exit        inside: exits with status 7
//	killed      inside: ends by a signal
//	stops       inside: ends when it is interrupted
//	keeps       enters a sandbox that keeps the end of a pipe, and reads from the other
//	kept        inside: writes to it
//	reap        inside: leaves an orphan and looks for zombies
//
// All carry one token as argument, by which the test finds them in /proc.

// play plays a role and returns the exit status.
func play(role string) int {
	if err := sandbox.SetupInit(); err != nil { // only the worker gets past this
		fmt.Println("failed:", err)
		return 1
	}
	act := map[string]func() error{"worker": playWorker, "host": playHost, "reap": playReap, "stops": playStops,
		"kept": playKept}[role]
	kind, inside, isFront := strings.Cut(role, "-")
	switch {
	case role == "exit":
		return 7
	case role == "killed":
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
		select {}
	case isFront:
		act = func() error { return playFront(kind, inside) }
	case act == nil:
		act = func() error { return fmt.Errorf("no role %q", role) }
	}
	err := act()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		fmt.Println("failed:", err)
		return 1
	}
	return 0
}

func token() string { return os.Args[len(os.Args)-1] }

func playFront(kind, inside string) error {
	os.Setenv(roleVar, inside)
	box, err := sandbox.New(token())
	if err != nil {
		return err
	}
	if kind == "lost" || kind == "flees" {
		box.Command.SysProcAttr.Pdeathsig = 0
	}
	var reader, writer *os.File
	if kind == "keeps" {
		if reader, writer, err = os.Pipe(); err != nil {
			return err
		}
		box.Keep(os.Stdin)
		box.Keep(writer)
	}
	if err := box.Start(); err != nil {
		return err
	}
	switch kind {
	case "keeps":
		writer.Close()
		text, err := io.ReadAll(reader) // until nobody inside has it open
		if string(text) != "kept" || err != nil {
			return fmt.Errorf("read %q (%v), want what the worker has written", text, err)
		}
	case "flees":
		return unix.Kill(os.Getpid(), unix.SIGKILL)
	case "interrupts":
		box.Interrupt()
	}
	return box.Wait()
}

func playWorker() error {
	topology, err := topo.New(topo.Spec{Leaves: 3, HostsPerLeaf: 2, Spines: 4, HostRate: 100 * units.Gbps,
		CoreRate: 400 * units.Gbps})
	if err != nil {
		return err
	}
	f, err := fabric.Build(context.Background(), topology, fabric.Config{})
	if err != nil {
		return err
	}
	if err := f.Do(0, func() error { return startRole("host").Start() }); err != nil {
		return err
	}
	// An orphan: its parent, a shell, ends at once.
	os.Setenv(roleVar, "host")
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if err := exec.Command("/bin/sh", "-c", `"$0" "$1" &`, program, token()).Run(); err != nil {
		return err
	}
	fmt.Println("ready")
	time.Sleep(time.Minute)
	return nil
}

func startRole(role string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", token())
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	return cmd
}

func playHost() error {
	time.Sleep(time.Minute)
	return nil
}

func playStops() error {
	select {
	case <-sandbox.Interrupts():
		fmt.Println("ready")
		return nil
	case <-time.After(10 * time.Second):
		return errors.New("the interrupt was lost")
	}
}

func playKept() error {
	fds := sandbox.Kept()
	if len(fds) != 2 {
		return fmt.Errorf("kept are %v, want two files", fds)
	}
	// What it starts has neither.
	if err := exec.Command("/bin/sh", "-c", fmt.Sprintf("test ! -e /proc/self/fd/%d", fds[1])).Run(); err != nil {
		return fmt.Errorf("a child has what the worker keeps: %w", err)
	}
	fmt.Println("ready")
	_, err := unix.Write(fds[1], []byte("kept"))
	return err
}

func playReap() error {
	if err := exec.Command("/bin/sh", "-c", "sleep 0.1 &").Run(); err != nil {
		return err
	}
	for range 200 {
		time.Sleep(20 * time.Millisecond)
		states, err := filepath.Glob("/proc/[0-9]*/stat")
		if err != nil || len(states) < 2 {
			return fmt.Errorf("processes %v (%v): want at least a supervisor and a worker", states, err)
		}
		if len(states) == 2 { // orphan gone, and no zombie left of it
			fmt.Println("ready")
			return nil
		}
	}
	return errors.New("an orphan that ended was not reaped")
}
