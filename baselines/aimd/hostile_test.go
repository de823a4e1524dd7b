package aimd_test

import (
	"testing"

	"sirdbed/emu/model/modeltest"
)

// Whatever arrives, nothing breaks.
func TestHostilePackets(t *testing.T) { modeltest.HostilePackets(t, subject) }
