package main

import (
	"strings"
	"testing"

	"sirdbed/emu"
)

// --guests takes a number or auto, of the engine that has guests.
func TestGuestsFlag(t *testing.T) {
	for _, c := range []struct {
		text   string
		engine emu.EngineName
		want   int
		err    string
	}{
		{"1", emu.Model, 0, ""},
		{"1", emu.Virtual, 0, ""},
		{"", emu.Real, 0, ""},
		{"4", emu.Virtual, 4, ""},
		{"auto", emu.Virtual, autoGuests, ""},
		{"2", emu.Model, 0, "the engine model has no guests"},
		{"auto", emu.Real, 0, "the engine real has no guests"},
		{"0", emu.Virtual, 0, "want a number from 1 on, or auto"},
		{"-1", emu.Virtual, 0, "want a number"},
		{"many", emu.Virtual, 0, "want a number"},
	} {
		got, err := guestsOf(c.text, c.engine)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("--guests %s on %s: got %d, %v; want %d, %q", c.text, c.engine, got, err, c.want, c.err)
		}
	}
}
