//go:build linux

// Package nstest gives tests network namespaces, veth pairs between them, and
// the right to make both: as root, or as an ordinary user in a user namespace
// of its own.
//
// A test package calls Main from its TestMain, and each test that builds
// something begins with
//
//	nstest.RequireNetAdmin(t)
//	nstest.Lock(t)
//
// Everything is gone when the test ends: nothing has a name that could stay
// behind.
package nstest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Environment variables: that the test binary is the one in the user
// namespace, that a machine which refuses namespaces is a failure, and that time
// is virtual.
const (
	insideVar  = "SIRDBED_TEST_USERNS"
	requireVar = "SIRDBED_REQUIRE_NETNS"
	guestVar   = "SIRDBED_GUEST" // set in guests, see emu/virtual/guest
)

// The process's first thread must stay where it is: it is what /proc/self
// shows, and Go cannot end it. So it is kept for the main goroutine, and none of
// those that enter a namespace can run on it.
func init() { runtime.LockOSThread() }

// Main runs a package's tests. Without the right to make network namespaces it
// starts the test binary again inside a user namespace, in which it has it; if
// the machine refuses that too, the tests run anyway and RequireNetAdmin skips.
func Main(m *testing.M) {
	if probe() == nil || os.Getenv(insideVar) != "" {
		os.Exit(m.Run())
	}
	child := exec.Command("/proc/self/exe", os.Args[1:]...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.Env = append(os.Environ(), insideVar+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL, // when this thread ends, which init keeps
	}
	if err := child.Start(); err != nil {
		os.Exit(m.Run())
	}
	err := child.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, "nstest:", err)
		os.Exit(1)
	}
	os.Exit(child.ProcessState.ExitCode())
}

// probe tries to make a network namespace, on a thread that ends with it.
func probe() error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		result <- unix.Unshare(unix.CLONE_NEWNET)
	}()
	return <-result
}

// RequireExactTime skips the test where time passes while things happen, which
// is everywhere but in a guest of the virtual engine.
func RequireExactTime(t testing.TB) {
	t.Helper()
	if os.Getenv(guestVar) == "" {
		t.Skip(
			"claims about exact times are met in a guest of the virtual engine (go test ./emu/virtual runs them there)")
	}
}

// RequireNetAdmin skips the test where the machine lets neither this user nor
// a user namespace make network namespaces. With SIRDBED_REQUIRE_NETNS=1 the
// test fails instead.
func RequireNetAdmin(t testing.TB) {
	t.Helper()
	err := probe()
	switch {
	case err == nil:
	case os.Getenv(requireVar) == "1":
		t.Fatalf("no network namespaces here (%v), and %s=1", err, requireVar)
	default:
		t.Skipf("no network namespaces here: %v; run as root, or allow user namespaces", err)
	}
}

// lock is locked by this process while any of its tests has it.
var lock struct {
	sync.Mutex
	users int
	file  *os.File
}

// Lock keeps this test and those of other packages that build namespaces from
// running at once, since they would steal one another's processor time. It
// waits until the others are done, and ends with the test. Tests of one
// package do not keep one another out.
func Lock(t testing.TB) {
	t.Helper()
	lock.Lock()
	defer lock.Unlock()
	if lock.users == 0 {
		file, err := lockFile(filepath.Join(os.TempDir(), "sirdbed-test.lock"))
		if err != nil {
			t.Fatal(err)
		}
		lock.file = file
	}
	lock.users++
	t.Cleanup(func() {
		lock.Lock()
		defer lock.Unlock()
		if lock.users--; lock.users == 0 {
			lock.file.Close()
		}
	})
}

func lockFile(path string) (*os.File, error) {
	// Another user's file can be locked, though not opened for writing.
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o644)
	}
	if err != nil {
		return nil, err
	}
	for {
		switch err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err {
		case nil:
			return file, nil
		case unix.EINTR:
		default:
			file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
	}
}
