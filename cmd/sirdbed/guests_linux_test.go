//go:build !portable

package main

import (
	"testing"

	"sirdbed/emu/virtual"
)

// Auto is the engine's number for it.
func TestAutoIsTheEngines(t *testing.T) {
	if autoGuests != virtual.AutoGuests {
		t.Errorf("auto is %d guests, and %d for the engine", autoGuests, virtual.AutoGuests)
	}
}
