//go:build linux

package virtual

import (
	"fmt"
	"os"
	"testing"

	"sirdbed/emu/virtual/guest"
	"sirdbed/sirdnode/node"
)

// Arguments that make the test binary the controller in a guest, and a host of
// its fabric.
const (
	controllerArgument = "test-controller"
	nodeArgument       = "test-node"
)

// The test binary is also what the guests that tests start consist of.
func TestMain(m *testing.M) {
	roles := map[string]func() error{
		controllerArgument: func() error { return Inside(os.Args[2], nil) },
		nodeArgument:       func() error { os.Exit(node.Main()); return nil },
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
