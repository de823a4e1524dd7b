//go:build !portable

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What SIRDBED_KERNEL names is opened by the rules of the cache's kernels; an error names
// the variable and what to do, and nothing waits for a pipe.
func TestKernelThatTheEnvironmentNames(t *testing.T) {
	root := os.Geteuid() == 0
	const other = "want a regular file"
	for _, c := range []struct {
		name string
		make func(path string) error
		want string
		skip bool
	}{
		{"sound", func(path string) error { return os.WriteFile(path, nil, 0o755) }, "", false},
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
		}, "or unset " + kernelVar, !root},
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
				if (err == nil) != (c.want == "") || err != nil &&
					(!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), kernelVar)) {
					t.Errorf("got %v, want %q and %s", err, c.want, kernelVar)
				}
			case <-time.After(10 * time.Second):
				t.Error("it waits")
			}
		})
	}
}
