//go:build linux

package sandbox_test

import (
	"os"
	"testing"

	"sirdbed/sirdnode/nstest"
)

// roleVar makes the test binary something else than a test; see
// roles_linux_test.go.
const roleVar = "SIRDBED_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		os.Exit(play(role))
	}
	nstest.Main(m)
}
