package emu

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"sirdbed/topo/units"
)

// The window is what is measured; the end leaves time for what is under way.
func TestTimesOfAnExperiment(t *testing.T) {
	const ms = units.Millisecond
	x := Experiment{Warmup: 2 * ms, Duration: 5 * ms, Drain: 10 * ms}
	if from, to := x.Window(); from != 2*ms || to != 7*ms || x.End() != 17*ms {
		t.Errorf("the window is %v to %v, the end %v; want 2ms to 7ms, 17ms", from, to, x.End())
	}
}

// An error of an engine that is unsuited keeps the reason and the cause apart.
func TestUnsuited(t *testing.T) {
	err := Unsuited("no netem here", ErrNotSupported)
	if !errors.Is(err, ErrUnsuited) || !errors.Is(err, ErrNotSupported) || err.Error() != "no netem here" {
		t.Errorf("got %v, want the reason, and both to match", err)
	}
	if err := Unsuited("no kernel", nil); !errors.Is(err, ErrUnsuited) || errors.Is(err, ErrNotSupported) {
		t.Errorf("got %v, want ErrUnsuited alone", err)
	}
}

// What Begin and End have written is where the analysis reads it.
func TestRunDir(t *testing.T) {
	tmp := t.TempDir()
	d, err := OpenRunDir(tmp)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := errors.Join(d.Begin(&Experiment{Seed: 7}), d.End(&Facts{CPUs: 3})); err != nil {
		t.Fatal(err)
	}
	var x Experiment
	var f Facts
	for name, v := range map[string]any{"experiment.json": &x, "facts.json": &f} {
		text, err := os.ReadFile(filepath.Join(tmp, name))
		if err == nil {
			err = json.Unmarshal(text, v)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if x.Seed != 7 || f.CPUs != 3 {
		t.Errorf("got seed %d and %d processors back, want 7 and 3", x.Seed, f.CPUs)
	}
	for name, want := range map[string]string{
		HostLog("h1-1"): "hosts/h1-1.rec", QueueLog: "queues.rec", CaptureFile("leaf1"): "captures/leaf1.pcapng",
	} {
		if name != want {
			t.Errorf("got %s, want %s", name, want)
		}
		file, err := d.Create(name)
		if err != nil {
			t.Errorf("it cannot be made: %v", err)
			continue
		}
		file.Close()
	}
}

// A directory that is none, is not there or has something in it is an error.
func TestRunDirThatCannotBe(t *testing.T) {
	tmp := t.TempDir()
	file := filepath.Join(tmp, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenRunDir(file); err == nil {
		t.Error("a file: got no error, want one")
	}
	if _, err := OpenRunDir(filepath.Join(tmp, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: got %v, want %v", err, fs.ErrNotExist)
	}
	d, err := OpenRunDir(tmp)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := errors.Join(d.Begin(&Experiment{}), d.Begin(&Experiment{})); !errors.Is(err, fs.ErrExist) {
		t.Errorf("used: got %v, want %v", err, fs.ErrExist)
	}
}
