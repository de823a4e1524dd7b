//go:build !portable

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/spf13/cobra"
)

// inBackground runs this command line again with --foreground, in a session of its own,
// and returns when that has written its first line on standard output, which is handed
// on, or has ended. Until then it ends with this process, as it cannot write the line.
func inBackground(c *cobra.Command) error {
	cmd := exec.Command("/proc/self/exe", append(append([]string(nil), os.Args[1:]...), "--foreground")...)
	cmd.Args[0] = os.Args[0]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	complaints, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the process that keeps the fabric up: %w", err)
	}
	told := make(chan struct{})
	go func() {
		_, _ = io.Copy(c.ErrOrStderr(), complaints)
		close(told)
	}()
	first := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			line = ""
		}
		first <- line
	}()
	var line string
	select {
	case line = <-first:
	case <-c.Context().Done():
		_ = cmd.Process.Signal(syscall.SIGTERM)
		line = <-first
	}
	if line != "" {
		_, err := io.WriteString(c.OutOrStdout(), line)
		return err
	}
	<-told
	return backgroundError(cmd.Wait())
}

// backgroundError is the error of a process that has ended before the fabric was up. It
// has said why.
func backgroundError(err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return errors.New("the process that keeps the fabric up has ended before it was up")
	}
	if code := exit.ExitCode(); code > 0 {
		return &codedError{code, errReported}
	}
	return fmt.Errorf("the process that keeps the fabric up: %w", err)
}
