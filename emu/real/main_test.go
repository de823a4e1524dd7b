//go:build linux

package real

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"sirdbed/emu/launch"
	"sirdbed/sirdnode/node"
	"sirdbed/sirdnode/nstest"
)

// hostRole makes the test binary a host process.
const hostRole = "SIRDBED_TEST_ROLE=host"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == launch.Argument {
		code, err := launch.Main()
		fmt.Fprintln(os.Stderr, err)
		os.Exit(max(1, code))
	}
	if role := os.Getenv("SIRDBED_TEST_ROLE"); role == "receive" || strings.HasPrefix(role, "send ") {
		if err := talk(role); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv("SIRDBED_TEST_ROLE") == "host" {
		os.Exit(node.Main())
	}
	nstest.Main(m)
}
