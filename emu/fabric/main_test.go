//go:build linux

package fabric

import (
	"testing"

	"sirdbed/sirdnode/nstest"
)

func TestMain(m *testing.M) { nstest.Main(m) }
