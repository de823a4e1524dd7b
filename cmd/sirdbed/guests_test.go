package main

import (
	"strings"
	"testing"

	"sirdbed/emu"
	"sirdbed/emu/tree"
	"sirdbed/scenarios"
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

// The command that makes a run again has its number of guests.
func TestAgainHasTheGuests(t *testing.T) {
	dir, err := tree.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := dir.WriteText(scenarioText, []byte("name: x\n")); err != nil {
		t.Fatal(err)
	}
	for guests, want := range map[int]string{0: "", 2: "--guests 2", autoGuests: "--guests auto"} {
		r := &Record{Engine: emu.Virtual, Guests: guests, Scenario: &scenarios.Scenario{Name: "x"}}
		got := r.again(dir, 1)
		if !strings.Contains(got, want) || want == "" && strings.Contains(got, "guests") || got == "" {
			t.Errorf("%d guests: got %q, want %q in it", guests, got, want)
		}
	}
}
