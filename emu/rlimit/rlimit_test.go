//go:build linux

package rlimit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
)

// asks are what a process that has limits may ask.
var asks = map[string]func(need int64) error{
	"descriptors": func(need int64) error { return Descriptors(int(need)) },
	"addresses":   AddressSpace,
	"file":        FileSize,
}

// With SIRDBED_TEST_ROLE the test binary is a process that limits itself and asks.
func TestMain(m *testing.M) {
	role := os.Getenv("SIRDBED_TEST_ROLE")
	if role == "" {
		os.Exit(m.Run())
	}
	if err := limited(role); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// limited sets a limit of this process, hard unless that is 0, and returns what it is told.
func limited(role string) error {
	var ask string
	var which int
	var soft, hard uint64
	var need int64
	if _, err := fmt.Sscan(role, &ask, &which, &soft, &hard, &need); err != nil {
		return err
	}
	var l unix.Rlimit
	if err := unix.Getrlimit(which, &l); err != nil {
		return err
	}
	l.Cur = soft
	if hard != 0 {
		l.Max = hard
	}
	if err := unix.Setrlimit(which, &l); err != nil {
		return err
	}
	err := asks[ask](need)
	if err != nil && !errors.Is(err, emu.ErrNotSupported) {
		return fmt.Errorf("%T does not match %q", err, emu.ErrNotSupported)
	}
	return err
}

// What is just enough is enough. What is not is reported with what the run takes, what a
// process may have, and how to lift the limit.
func TestLimits(t *testing.T) {
	const files, addresses, data, file = unix.RLIMIT_NOFILE, unix.RLIMIT_AS, unix.RLIMIT_DATA, unix.RLIMIT_FSIZE
	const mb, idle = 1 << 20, goReserve
	for _, c := range []struct {
		name       string
		which      int
		soft, hard uint64
		ask        string
		need       int64
		want       []string // of the error, if there is one
	}{
		{"enough files", files, 50, 50, "descriptors", 50, nil},
		{"enough files, by the hard limit", files, 20, 50, "descriptors", 50, nil},
		{"too few files", files, 50, 50, "descriptors", 51,
			[]string{"takes 51 open files", "have 50 ", "ulimit -n 51"}},
		{"enough addresses", addresses, idle + mb, 0, "addresses", mb, nil},
		{"too few addresses", addresses, idle + mb - 1, 0, "addresses", mb,
			[]string{"takes 2049 MB of addresses", "have 2048 ", "ulimit -v unlimited"}},
		{"enough data", data, idle, 0, "addresses", 0, nil},
		{"too little data", data, idle - 1, 0, "addresses", 0,
			[]string{"takes 2048 MB of addresses", "have 2047 ", "ulimit -d unlimited"}},
		{"a file as large as can be", file, 5 * mb, 0, "file", 5 * mb, nil},
		{"a file too large", file, 5*mb - 1, 0, "file", 5 * mb,
			[]string{"takes 5 MB in a file", "have 4 ", "ulimit -f unlimited"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("/proc/self/exe")
			role := fmt.Sprintf("SIRDBED_TEST_ROLE=%s %d %d %d %d", c.ask, c.which, c.soft, c.hard, c.need)
			cmd.Env = append(os.Environ(), role)
			said, err := cmd.CombinedOutput()
			if (err == nil) != (c.want == nil) {
				t.Fatalf("got %v, %s, want %q (none if empty)", err, said, c.want)
			}
			for _, want := range c.want {
				if !strings.Contains(string(said), want) {
					t.Errorf("got %s, want %q", said, want)
				}
			}
		})
	}
}
