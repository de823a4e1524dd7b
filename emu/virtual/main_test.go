//go:build linux

package virtual

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"sirdbed/emu/launch"
	"sirdbed/emu/virtual/guest"
	"sirdbed/sirdnode/node"
)

// Arguments that make the test binary the controller in a guest, and a host of
// its fabric.
const (
	controllerArgument = "test-controller"
	nodeArgument       = "test-node"
	lookArgument       = "test-look"  // looks for a secret in a guest
	writeArgument      = "test-write" // writes as a log does, and forgets it
)

// look writes into a directory, and prints how it fares in reading a secret.
func look(shown, secret string) error {
	if err := os.WriteFile(filepath.Join(shown, "written"), []byte("in the guest"), 0o600); err != nil {
		return err
	}
	tell := func(how, path string) {
		text, err := os.ReadFile(path)
		var e *fs.PathError
		if errors.As(err, &e) {
			err = e.Err
		}
		fmt.Printf("%s: %v%s\n", how, err, text)
	}
	tell("by its name", secret)
	// The kernel resolves this one, with the rights of the user outside.
	if err := os.Symlink(filepath.Dir(secret), filepath.Join(shown, "link")); err != nil {
		return err
	}
	const at = "/run/link"
	if err := os.Mkdir(at, 0o700); err != nil {
		return err
	}
	if err := unix.Mount("hostfs", at, "hostfs", 0, ".guest/show/0/link"); err != nil {
		fmt.Printf("by a link: %v\n", err)
		return nil
	}
	tell("by a link", filepath.Join(at, filepath.Base(secret)))
	return nil
}

// The test binary is also what the guests that tests start consist of.
func TestMain(m *testing.M) {
	roles := map[string]func() error{
		controllerArgument: func() error { return Inside(os.Args[2], nil) },
		nodeArgument:       func() error { os.Exit(node.Main()); return nil },
		programArgument:    func() error { return program(os.Args[2:]) },
		launch.Argument: func() error {
			code, err := launch.Main()
			fmt.Fprintln(os.Stderr, err)
			os.Exit(max(1, code))
			return nil
		},
		lookArgument:  func() error { return look(os.Args[2], os.Args[3]) },
		writeArgument: func() error { return writeAndForget(os.Args[2]) },
	}
	be, ok := guest.Role(os.Args[1:])
	if !ok && len(os.Args) > 1 {
		be, ok = roles[os.Args[1]]
	}
	if ok {
		if err := be(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
