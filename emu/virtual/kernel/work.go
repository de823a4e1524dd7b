//go:build linux

package kernel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// expectedFiles is how many lines make prints for the project's configuration.
const expectedFiles = 1211

// work is one build.
type work struct {
	cache   Cache
	options Options
	source  string
	version string
	log     *os.File
	resumed bool // an interrupted build goes on
}

func (w *work) step(format string, args ...any) {
	if w.options.Step != nil {
		w.options.Step(fmt.Sprintf(format, args...))
	}
}

func (w *work) run(ctx context.Context) (err error) {
	if w.log, err = os.Create(w.cache.Log()); err != nil {
		return err
	}
	defer w.log.Close()
	if err := w.prepare(ctx); err != nil {
		return err
	}
	err = w.compile(ctx)
	if err != nil && ctx.Err() == nil && w.resumed {
		w.step("that does not go on: starting over")
		if err := os.RemoveAll(w.cache.tree()); err != nil {
			return err
		}
		if err := w.prepare(ctx); err != nil {
			return err
		}
		err = w.compile(ctx)
	}
	if err != nil {
		return err
	}
	if w.options.Verify != nil {
		w.step("booting it")
		if err := w.options.Verify(filepath.Join(w.cache.tree(), "linux")); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("the kernel was built, but does not work: %w", err)
		}
	}
	return nil
}

// prepare sees to it that there is a tree to compile: that of an interrupted
// build, or a new one, whole or not at all.
func (w *work) prepare(ctx context.Context) error {
	if w.resumed = w.prepared(); w.resumed {
		w.step("going on with the build that was interrupted")
	} else if err := w.unpack(ctx); err != nil {
		return errors.Join(err, os.RemoveAll(w.cache.tree()))
	}
	var err error
	w.version, err = w.kernelVersion()
	return err
}

// configure turns on what the project lists and nothing else, and makes sure
// that Linux took all of it.
func (w *work) configure(ctx context.Context) error {
	list := filepath.Join(w.cache.tree(), ".sirdbed-config")
	if err := os.WriteFile(list, Config, 0o644); err != nil {
		return err
	}
	if err := w.tool(ctx, nil, nil, "make", "ARCH=um", "allnoconfig", "KCONFIG_ALLCONFIG="+list); err != nil {
		return err
	}
	got, err := os.ReadFile(filepath.Join(w.cache.tree(), ".config"))
	if err != nil {
		return err
	}
	var lost []string
	for line := range strings.Lines(string(Config)) {
		if strings.HasPrefix(line, "CONFIG_") && !bytes.Contains(got, []byte("\n"+line)) {
			lost = append(lost, strings.TrimSpace(line))
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("this source does not take %s: name one of Linux %s with --source", strings.Join(lost, ", "),
			Version)
	}
	return nil
}

func (w *work) compile(ctx context.Context) error {
	count := &lineCounter{each: func(n int) {
		if w.options.Compiled != nil {
			w.options.Compiled(min(n, expectedFiles), expectedFiles)
		}
	}}
	w.step("compiling Linux %s as a program, on %d processors", w.version, runtime.NumCPU())
	return w.tool(ctx, nil, count, "make", "ARCH=um", fmt.Sprintf("-j%d", runtime.NumCPU()), "linux")
}

// tool runs a program in the tree, in a process group of its own that ends with
// ctx and with this process.
func (w *work) tool(ctx context.Context, input []byte, count *lineCounter, argv ...string) error {
	// The end of the thread that started it would end it too.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = w.cache.tree()
	// What gcc keeps for itself goes where there is room. xz unpacks on all
	// processors.
	cmd.Env = append(os.Environ(), "TMPDIR="+w.cache.tree(), "XZ_DEFAULTS=-T0", "LC_ALL=C",
		"KBUILD_BUILD_TIMESTAMP=2024-11-17", "KBUILD_BUILD_USER=sirdbed", "KBUILD_BUILD_HOST=sirdbed", "MAKEFLAGS=")
	cmd.Stdin = bytes.NewReader(input)
	tail := &tail{}
	cmd.Stdout, cmd.Stderr = &tee{w.log, tail, count}, &tee{w.log, tail, nil}
	cmd.SysProcAttr = childAttr()
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		if cmd.Process != nil {
			_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) // whoever ignored that
		}
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return err
	case err != nil:
		return fmt.Errorf("%s: %w; the end of its output (all of it: %s)\n%s", argv[0], err, w.cache.Log(), tail)
	}
	return nil
}
