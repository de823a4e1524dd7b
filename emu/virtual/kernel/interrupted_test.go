//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A compilation that was interrupted goes on, unless it cannot: then it starts
// over. An interruption before that leaves nothing.
func TestInterruptedBuilds(t *testing.T) {
	b := newBench(t)
	interrupt := func(at string) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		_, _, err := b.cache.Build(ctx, Options{Source: b.source, Step: func(text string) {
			if strings.Contains(text, at) {
				time.AfterFunc(300*time.Millisecond, cancel)
			}
		}, Verify: func(string) error { <-ctx.Done(); return ctx.Err() }})
		return err
	}
	b.tool("patch", "sleep 60")
	if err := interrupt("applying"); !errors.Is(err, context.Canceled) || b.cache.Unfinished() {
		t.Errorf("in patch: %v, unfinished %v", err, b.cache.Unfinished())
	}
	b.tool("patch", "exit 0")
	b.make("touch begun; sleep 60")
	if err := interrupt("compiling"); !errors.Is(err, context.Canceled) || !b.cache.Unfinished() {
		t.Errorf("in make: %v, unfinished %v", err, b.cache.Unfinished())
	}
	b.make("[ -e begun ] || exit 1")
	if err := interrupt("booting"); !errors.Is(err, context.Canceled) || !b.cache.Unfinished() {
		t.Errorf("in the boot: %v, unfinished %v", err, b.cache.Unfinished())
	}
	if _, steps, err := b.build(Options{}); err != nil || strings.Contains(steps, "unpacking") ||
		!strings.Contains(steps, "going on") {
		t.Errorf("resumed: %v\n%s", err, steps)
	}
	b.make("touch begun; sleep 60")
	os.RemoveAll(filepath.Join(string(b.cache), Version+".99-"+hash()))
	_ = interrupt("compiling")
	b.make("[ -e begun ] && { echo file truncated; exit 1; }")
	if _, steps, err := b.build(Options{}); err != nil || !strings.Contains(steps, "starting over\nunpacking") {
		t.Errorf("started over: %v\n%s", err, steps)
	}
	if b.cache.Unfinished() {
		t.Error("a tree is left")
	}
}

// Two builds at once: one works, the other says so.
func TestTwoBuilds(t *testing.T) {
	b := newBench(t)
	b.make("while [ ! -e " + b.tools + "/go ]; do sleep 0.05; done")
	compiling, done := make(chan bool), make(chan error)
	go func() {
		_, _, err := b.cache.Build(context.Background(), Options{Source: b.source, Step: func(text string) {
			if strings.HasPrefix(text, "compiling") {
				close(compiling)
			}
		}})
		done <- err
	}()
	<-compiling
	if _, _, err := b.build(Options{}); err == nil || !strings.Contains(err.Error(), "another sirdbed is at work") {
		t.Errorf("the second: %v", err)
	}
	if _, err := b.cache.Remove(); err == nil || !strings.Contains(err.Error(), "another sirdbed is at work") {
		t.Errorf("remove: %v", err)
	}
	if err := os.WriteFile(b.tools+"/go", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the first: %v", err)
	}
}

// What a killed build has left running delays the next one until it has ended.
func TestToolsOfAKilledBuild(t *testing.T) {
	b := newBench(t)
	if err := os.MkdirAll(string(b.cache), 0o755); err != nil {
		t.Fatal(err)
	}
	gone := exec.Command("sleep", "0")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(string(b.cache), "lock")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(file, gone.Process.Pid)
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	var ended atomic.Bool
	time.AfterFunc(300*time.Millisecond, func() { ended.Store(true); file.Close() })
	if _, _, err := b.build(Options{}); err != nil || !ended.Load() {
		t.Errorf("%v, the tools had ended: %v", err, ended.Load())
	}
}
