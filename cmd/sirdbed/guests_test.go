package main

import (
	"runtime"
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
		want   scenarios.Guests
		err    string
	}{
		{"1", emu.Model, 1, ""},
		{"1", emu.Virtual, 1, ""},
		{"", emu.Real, 3, ""}, // the scenario's
		{"4", emu.Virtual, 4, ""},
		{"auto", emu.Virtual, scenarios.AutoGuests, ""},
		{"2", emu.Model, 0, "the engine model has no guests"},
		{"auto", emu.Real, 0, "the engine real has no guests"},
		{"0", emu.Virtual, 0, "want auto or a whole number from 1 to 64"},
		{"-1", emu.Virtual, 0, "want auto or a whole number"},
		{"65", emu.Virtual, 0, "want auto or a whole number"},
		{"many", emu.Virtual, 0, "want auto or a whole number"},
	} {
		s := &scenarios.Scenario{Guests: 3}
		err := takeGuests(s, c.text, c.engine)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("--guests %s on %s: got %v, want %q", c.text, c.engine, err, c.err)
		}
		if err == nil && s.Guests != c.want {
			t.Errorf("--guests %s on %s: got %d, want %d", c.text, c.engine, s.Guests, c.want)
		}
	}
}

// Processors go to variants first, and auto is what is left for each of those that run at
// once. On other engines an experiment has no guests: it is the same with and without.
func TestGuestsTakeWhatVariantsLeave(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	auto := int(scenarios.AutoGuests)
	for _, c := range []struct {
		engine                 emu.EngineName
		guests, jobs, variants int
		want                   int // asked of the engine; -1: it is not asked
		result                 int
	}{
		{emu.Virtual, auto, 0, 1, processors, 7},
		{emu.Virtual, auto, 1, 3, processors, 7},
		{emu.Virtual, auto, 0, processors, 1, 7},
		{emu.Virtual, 5, 0, 3, -1, 5},
		{emu.Virtual, 1, 0, 1, -1, 0},
		{emu.Virtual, 0, 0, 1, -1, 0},
		{emu.Model, auto, 0, 1, -1, 0},
		{emu.Model, 5, 0, 1, -1, 0},
	} {
		asked := -1
		most := func(_ *emu.Experiment, most int) (int, error) { asked = most; return 7, nil }
		kind := engineKind{atOnce: func(_ *emu.Experiment, n int) int { return n }}
		if c.engine == emu.Virtual {
			kind.guests = most
		}
		swapEngine(t, c.engine, kind)
		r := &scenarioRun{engine: c.engine, jobs: c.jobs, experiments: make([]emu.Experiment, c.variants)}
		for i := range r.experiments {
			r.experiments[i].Guests = c.guests
		}
		if err := r.shareGuests(); err != nil {
			t.Fatal(err)
		}
		if asked != c.want || r.experiments[0].Guests != c.result {
			t.Errorf("%s, guests %d, jobs %d, %d variants: asked for %d, got %d; want %d and %d", c.engine, c.guests,
				c.jobs, c.variants, asked, r.experiments[0].Guests, c.want, c.result)
		}
	}
}

// swapEngine has an engine be another until the end of the test.
func swapEngine(t *testing.T, name emu.EngineName, kind engineKind) {
	t.Helper()
	old, was := engines[name]
	engines[name] = kind
	t.Cleanup(func() {
		if engines[name] = old; !was {
			delete(engines, name)
		}
	})
}

// The command that makes a run again has what flags have changed.
func TestAgainHasTheFlags(t *testing.T) {
	dir, err := tree.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := dir.WriteText(scenarioText, []byte("name: x\n")); err != nil {
		t.Fatal(err)
	}
	s := &scenarios.Scenario{Name: "x"}
	if err := takeGuests(s, "auto", emu.Virtual); err != nil {
		t.Fatal(err)
	}
	r := &Record{Engine: emu.Virtual, Scenario: s}
	if got, want := r.again(dir, 1), "--set guests=auto"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
}
