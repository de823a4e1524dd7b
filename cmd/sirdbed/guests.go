package main

import (
	"fmt"
	"strconv"

	"sirdbed/emu"
)

// autoGuests is the number of guests that stands for auto, virtual.AutoGuests where there is
// that engine.
const autoGuests = -1

// guestsOf reads --guests, for an engine. 0 is one, as it is without the flag.
func guestsOf(text string, engine emu.EngineName) (int, error) {
	if text == guestsText(autoGuests) && engine == emu.Virtual {
		return autoGuests, nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case text == "" || err == nil && n == 1:
		return 0, nil
	case engine != emu.Virtual:
		return 0, badInput(fmt.Errorf("--guests %s: the engine %s has no guests: only %s has", text, engine,
			emu.Virtual))
	case err != nil || n < 1:
		return 0, badInput(fmt.Errorf("--guests %s: want a number from 1 on, or auto", text))
	}
	return n, nil
}

// guestsText is a number of guests as --guests takes it.
func guestsText(n int) string {
	if n == autoGuests {
		return "auto"
	}
	return strconv.Itoa(n)
}
