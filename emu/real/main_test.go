//go:build linux

package real

import (
	"os"
	"testing"

	"sirdbed/sirdnode/node"
	"sirdbed/sirdnode/nstest"
)

// hostRole makes the test binary a host process.
const hostRole = "SIRDBED_TEST_ROLE=host"

func TestMain(m *testing.M) {
	if os.Getenv("SIRDBED_TEST_ROLE") == "host" {
		os.Exit(node.Main())
	}
	nstest.Main(m)
}
