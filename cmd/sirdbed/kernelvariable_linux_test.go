//go:build !portable

package main

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What SIRDBED_KERNEL names is opened by the rules of the cache's kernels, if it is a program
// of this machine; an error names the variable and what to do, and nothing waits for a pipe.
func TestKernelThatTheEnvironmentNames(t *testing.T) {
	root := os.Geteuid() == 0
	const other = "want a regular file"
	own, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	foreign := slices.Clone(own)
	foreign[18] ^= 0xff // e_machine
	core := slices.Clone(own)
	core[16] = byte(elf.ET_CORE)
	write := func(text []byte) func(path string) error {
		return func(path string) error { return os.WriteFile(path, text, 0o755) }
	}
	for _, c := range []struct {
		name string
		make func(path string) error
		want string
		skip bool
	}{
		{"sound", write(own), "", false},
		{"empty", write(nil), "is no program, or not all of one", false},
		{"a script", write([]byte("#!/bin/sh\nexit 0\n")), "", false},
		{"cut", write(own[:len(own)/2]), "is no program, or not all of one", false},
		{"cut in its header", write(own[:40]), "is no program, or not all of one", false},
		{"another machine's", write(foreign), "is for another machine", false},
		{"no program", write(core), "is no program: its type is ET_CORE", false},
		{"missing", func(string) error { return nil }, "no such file", false},
		{"a directory", func(path string) error { return os.Mkdir(path, 0o755) }, other, false},
		{"a pipe", func(path string) error { return syscall.Mkfifo(path, 0o755) }, other, false},
		{"not executable", func(path string) error { return os.WriteFile(path, nil, 0o644) }, "chmod +x it", false},
		{"another user's", func(path string) error {
			if err := os.WriteFile(path, nil, 0o755); err != nil {
				return err
			}
			return os.Chown(path, 12345, 12345)
		}, "chown root, chmod go-w", !root},
		{"for others to write", func(path string) error {
			if err := os.WriteFile(path, nil, 0o755); err != nil {
				return err
			}
			return os.Chmod(path, 0o777)
		}, "chown root, chmod go-w", !root},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.skip {
				t.Skip("an ordinary user endangers himself only")
			}
			path := filepath.Join(t.TempDir(), "linux")
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			t.Setenv(kernelVar, path)
			done := make(chan error, 1)
			go func() {
				file, err := openKernel()
				file.Close()
				done <- err
			}()
			select {
			case err := <-done:
				const named, mend = "kernel, which " + kernelVar + " names: ", "(unset it to use the cache's)"
				if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) ||
					!strings.Contains(err.Error(), named) || !strings.HasSuffix(err.Error(), mend)) {
					t.Errorf("got %v, want %q, %q and %q", err, c.want, named, mend)
				}
			case <-time.After(10 * time.Second):
				t.Error("it waits")
			}
		})
	}
}
