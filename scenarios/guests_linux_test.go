package scenarios

import (
	"testing"

	"sirdbed/emu/virtual/crossing"
)

// A scenario may have as many guests as can share a clock, and the page of limits says so on
// every system, which package crossing is not for.
func TestGuestsAreAsManyAsShareAClock(t *testing.T) {
	if maxGuests != crossing.MaxGuests {
		t.Errorf("scenarios have up to %d guests, a clock %d", maxGuests, crossing.MaxGuests)
	}
}
