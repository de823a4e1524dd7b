package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAges(t *testing.T) {
	for _, c := range []struct {
		text string
		want time.Duration // 0: refused
	}{
		{"30d", 30 * 24 * time.Hour}, {"2w", 14 * 24 * time.Hour}, {"0.5d", 12 * time.Hour},
		{"12h", 12 * time.Hour}, {"1h30m", 90 * time.Minute},
		{"9999w", 9999 * 7 * 24 * time.Hour}, {"106751d", 106751 * 24 * time.Hour},
		{"99999w", 0}, {"15251w", 0}, {"106752d", 0}, {"1e400d", 0}, {"Infd", 0}, // more than a Duration holds
		{"1e-300d", 0}, {"1e-20w", 0}, {"0s", 0}, {"0.1ns", 0}, // less
		{"", 0}, {"d", 0}, {"0d", 0}, {"-3d", 0}, {"30", 0}, {"1e9w", 0}, {"NaNd", 0}, {"yesterday", 0},
	} {
		t.Run(c.text, func(t *testing.T) {
			var got age
			if err := got.Set(c.text); time.Duration(got) != c.want || (err == nil) != (c.want > 0) {
				t.Errorf("got %v, %v, want %v", time.Duration(got), err, c.want)
			}
		})
	}
}

// Results from the future, as of a clock that was wrong, are kept for their age alone.
func TestPruneOfResultsFromTheFuture(t *testing.T) {
	for _, c := range []struct {
		options       pruneOptions
		kept, removed int
	}{
		{pruneOptions{keep: 0, dryRun: true}, 0, 2},
		{pruneOptions{keep: 1, dryRun: true}, 1, 1},
		{pruneOptions{keep: -1, older: age(time.Hour), dryRun: true}, 1, 1},
	} {
		dir := t.TempDir()
		now := time.Now()
		l := &Listing{Directory: dir}
		for name, created := range map[string]time.Time{"new": now.Add(time.Hour), "old": now.Add(-2 * time.Hour)} {
			path := filepath.Join(dir, name)
			if err := os.Mkdir(path, 0o777); err != nil {
				t.Fatal(err)
			}
			l.Results = append(l.Results, ListedRun{Name: name, State: Reported, Created: created, path: path})
		}
		p, err := prune(l, c.options, now)
		if err != nil || p.Kept != c.kept || len(p.Removed) != c.removed {
			t.Errorf("%+v: got %+v, %v, want %d kept and %d to remove", c.options, p, err, c.kept, c.removed)
		}
	}
}

// A result that is called as another is while that is removed keeps neither.
func TestPruneOfAResultCalledRemoving(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a", "a.removing", "a.removing-2"}
	for _, name := range names {
		path := filepath.Join(dir, name)
		err := errors.Join(os.Mkdir(path, 0o777),
			os.WriteFile(filepath.Join(path, scenarioFile), []byte(`{"scenario": {"name": "small"}}`), 0o666))
		if err != nil {
			t.Fatal(err)
		}
	}
	l, err := listResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := prune(l, pruneOptions{}, time.Now())
	left, _ := os.ReadDir(dir)
	if err != nil || len(p.Removed) != len(names) || len(left) > 0 {
		t.Errorf("got %+v, %v, left: %v; want all removed", p, err, left)
	}
}

func TestControlCharactersAreNotPrinted(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"gone\x1b[2J\nremoved everything", "foreign\x1b[2J\u202e\n", "unreadable\x1b[2J"} {
		result := filepath.Join(dir, name)
		os.Mkdir(result, 0o777)
		record := `{"engine": "a\u001b[2J\nb", "scenario": {"name": "small"}}`
		if strings.HasPrefix(name, "unreadable") {
			record = `{"format": 99}`
		}
		err := os.WriteFile(filepath.Join(result, "scenario.json"), []byte(record), 0o666)
		if strings.HasPrefix(name, "foreign") {
			err = os.Mkdir(filepath.Join(result, "\x1b[2J\n"), 0o777)
		}
		if err != nil {
			t.Skip(err) // a file system without such names
		}
	}
	l, err := listResults(dir)
	if err != nil || len(l.Results) != 3 {
		t.Fatalf("got %v, %v, want 3 results", l, err)
	}
	var text strings.Builder
	if err := l.print(&text); err != nil {
		t.Fatal(err)
	}
	p, err := prune(l, pruneOptions{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p.print(&text)
	if got := text.String(); strings.ContainsAny(got, "\x1b\u202e") || strings.Contains(got, "\nremoved everything") {
		t.Errorf("got %q, want no control characters", got)
	}
}

func TestWhatCannotBeRemovedStaysListed(t *testing.T) {
	for _, late := range []string{
		"mine.txt", "variants/sird/mine.txt", "variants/sird/hosts/mine.txt", "plots/mine.txt",
	} {
		t.Run(late, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "result")
			file := func(name string) {
				path := filepath.Join(dir, name)
				os.MkdirAll(filepath.Dir(path), 0o777)
				if err := os.WriteFile(path, []byte(`{"scenario": {"name": "small"}}`), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{
				"scenario.json", "scenario.yaml", "plots/queue.svg", "variants/sird/hosts/h1-1.rec",
			} {
				file(name)
			}
			r := ListedRun{Name: "result", path: dir}
			names, reason := r.spared()
			if reason != "" {
				t.Fatal(reason)
			}
			file(late) // after all was looked at
			if err := r.remove(names); err == nil {
				t.Error("it is removed, want an error")
			}
			if _, err := os.Stat(filepath.Join(dir, late)); err != nil {
				t.Error(err)
			}
			l, err := listResults(filepath.Dir(dir))
			if err != nil || !slices.ContainsFunc(l.Results, func(r ListedRun) bool { return r.Name == "result" }) {
				t.Errorf("got %v, %v, want it listed", l, err)
			}
			os.Remove(filepath.Join(dir, late))
			if names, reason = r.spared(); reason == "" {
				err = r.remove(names)
			}
			if _, there := os.Stat(dir); err != nil || there == nil {
				t.Errorf("it is not removed: %v", err)
			}
		})
	}
}
