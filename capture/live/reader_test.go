package live

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/emu"
	"sirdbed/emu/parts"
	"sirdbed/emu/tree"
)

// follow looks at a run's directory after each of several changes.
func follow(t *testing.T, path string, changes ...func()) *Run {
	t.Helper()
	dir, err := tree.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	run := NewRun(About{Variants: []string{"v"}})
	if err := run.Begin(0, dir, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	for _, change := range changes {
		change()
		run.Look()
	}
	return run
}

// grow writes the files of a run as it goes on: share of each log.
func grow(t *testing.T, from, to string, share float64) {
	t.Helper()
	for _, name := range []string{emu.ExperimentFile, emu.QueueLog, emu.HostLog("h1-1"), emu.HostLog("h1-2"),
		emu.HostLog("h2-1"), emu.HostLog("h2-2")} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if name != emu.ExperimentFile {
			text = text[:int(share*float64(len(text)))]
		}
		file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o666)
		if err == nil {
			_, err = file.Write(text) // the same as was there, and more
			file.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Logs are read as they come, cut anywhere, and nothing is counted twice.
func TestLogsThatGrow(t *testing.T) {
	whole, growing := fakerun.Busy(t).Write(t), t.TempDir()
	changes := []func(){func() {}} // nothing is there yet
	for i := range 50 {
		changes = append(changes, func() { grow(t, whole, growing, float64(i+1)/50) })
	}
	got := follow(t, growing, changes...)
	want := follow(t, whole, func() {})
	g, w := got.Glance(), want.Glance()
	if g.Done != 200 || g.Done != w.Done || g.Gbps != w.Gbps || g.Queues[0] != w.Queues[0] ||
		g.Slowdowns[0] != w.Slowdowns[0] {
		t.Errorf("read as it grew, got %+v, want %+v", g, w)
	}
	cost, err := got.End(false)
	if read := got.variants[0].reader.bytes; err != nil || cost.Bytes != read || cost.Reads < 50 {
		t.Errorf("got a cost of %+v and %v, for %d bytes", cost, err, read)
	}
}

// Each of several guests has a log of its queues, until they are merged at the end.
func TestQueuesOfGuests(t *testing.T) {
	path := fakerun.Busy(t).Write(t)
	want := follow(t, path, func() {}).Glance()
	text, err := os.ReadFile(filepath.Join(path, emu.ExperimentFile))
	if err == nil {
		text = bytes.Replace(text, []byte("{"), []byte(`{"guests": 2,`), 1)
		err = os.WriteFile(filepath.Join(path, emu.ExperimentFile), text, 0o666)
	}
	if err == nil { // the second guest has all switches
		err = os.Rename(filepath.Join(path, emu.QueueLog), filepath.Join(path, parts.File(1, emu.QueueLog)))
	}
	if err != nil {
		t.Fatal(err)
	}
	got := follow(t, path, func() {}).Glance()
	if len(want.Queues) == 0 || !slices.Equal(got.Queues, want.Queues) {
		t.Errorf("by the second of two guests the deepest queues are %+v, want %+v", got.Queues, want.Queues)
	}
}

// A log that is damaged is read up to there, and named.
func TestDamagedLog(t *testing.T) {
	path := fakerun.Busy(t).Write(t)
	log := filepath.Join(path, emu.HostLog("h1-2"))
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	at := len(text) / 4
	copy(text[at:], make([]byte, 200))
	if err := os.WriteFile(log, text, 0o666); err != nil {
		t.Fatal(err)
	}
	run := follow(t, path, func() {}, func() {})
	p := run.Picture(Query{Variant: -1})
	if p.Damaged == "" || p.Seen[0].Done == 0 || p.Seen[0].Done == 200 {
		t.Errorf("got damage %q and %d messages done, want a part of 200", p.Damaged, p.Seen[0].Done)
	}
}

func TestExperimentThatCannotBeRead(t *testing.T) {
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, emu.ExperimentFile), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	run := follow(t, path, func() {}, func() {})
	if p := run.Picture(Query{Variant: -1}); p.Why == "" || p.Static != nil {
		t.Errorf("got %q for the reason, and a picture: %v", p.Why, p.Static != nil)
	}
}
