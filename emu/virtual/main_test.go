package virtual

import (
	"fmt"
	"os"
	"testing"

	"sirdbed/emu/virtual/guest"
	"sirdbed/sirdnode"
)

// Arguments that make the test binary the controller in a guest, and a host of
// its fabric.
const (
	controllerArgument = "test-controller"
	nodeArgument       = "test-node"
)

// The test binary is also what the guests that tests start consist of.
func TestMain(m *testing.M) {
	parts := map[string]func() error{
		guest.InitArgument:   func() error { return guest.Init(os.Args[2]) },
		guest.KeeperArgument: func() error { return guest.Keep(os.Args[2]) },
		controllerArgument:   func() error { return Inside(os.Args[2], []string{"/proc/self/exe", nodeArgument}, nil) },
		nodeArgument:         func() error { return sirdnode.Node(0, os.Stdout, os.NewFile(3, "log")) },
	}
	if len(os.Args) > 1 && parts[os.Args[1]] != nil {
		if err := parts[os.Args[1]](); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
