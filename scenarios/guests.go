package scenarios

import (
	"fmt"
	"strconv"
)

// Guests is how many guests of the engine virtual share a fabric: 0 is one, AutoGuests what
// "auto" says.
type Guests int

// AutoGuests are as many guests as the machine's processors and the fabric's racks allow.
const AutoGuests Guests = -1

// maxGuests is how many guests can share a clock (crossing.MaxGuests of emu/virtual).
const maxGuests = 64

// UnmarshalText implements encoding.TextUnmarshaler.
func (g *Guests) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*g = AutoGuests
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 || n > maxGuests {
		return fmt.Errorf("%q is no number of guests: want auto or a whole number from 1 to %d", text, maxGuests)
	}
	*g = Guests(n)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (g Guests) MarshalText() ([]byte, error) {
	if g == AutoGuests {
		return []byte("auto"), nil
	}
	return strconv.AppendInt(nil, int64(g), 10), nil
}

// validateGuests finds what a fabric cannot be split over: a rack is in one guest, and one
// guest may know of another's what the delay between switches hides from it.
func (s *Scenario) validateGuests() *Error {
	n, leaves := int(s.Guests), s.fabric.Spec.Leaves
	switch {
	case n <= 1:
		return nil
	case n > leaves:
		return s.src.errorIn("guests", "%d guests for %d racks: a rack is in one guest, so want at most %d", n, leaves,
			leaves)
	case len(s.Apps) > 0:
		return s.src.errorIn("guests", "%d guests: programs (apps) run in one", n)
	case s.fabric.Spec.CoreDelay <= 0:
		return s.src.errorIn("guests", "%d guests: links between them need a delay (topology.core_delay)", n)
	}
	return nil
}
