package results

import (
	"errors"
	"os"
	"testing"

	"sirdbed/capture/internal/fakerun"
)

func TestFormatsBesideThisOneAreNamed(t *testing.T) {
	for _, c := range []struct {
		name             string
		got, first, last int
		want             string
	}{
		{"the oldest", 3, 3, 5, ""},
		{"the newest", 5, 3, 5, ""},
		{"older", 2, 3, 5, "made by an older sirdbed: format 2, this one reads 3 and later: " +
			"use the version that manifest.json names, or run the scenario again"},
		{"newer", 6, 3, 5,
			"made by a newer sirdbed: format 6, this one reads up to 5: use that version, or a later one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if err := checkFormat(c.got, c.first, c.last); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestReadJSONChecksTheFormatFirst(t *testing.T) {
	dir := fakerun.Open(t, t.TempDir()).Dir
	for _, c := range []struct {
		name, text string
		refused    bool
	}{
		{"not numbered", `{"seed": 7}`, false},
		{"this one", `{"format": 2, "seed": 7}`, false},
		{"newer, and of other types", `{"format": 3, "seed": "seven"}`, true},
		{"from before the first", `{"format": 0, "seed": 7}`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			must(t, os.WriteFile(dir.At("summary.json"), []byte(c.text), 0o666))
			var s Summary
			err := ReadJSON(dir, "summary.json", &s)
			if _, refused := errors.AsType[*FormatError](err); refused != c.refused {
				t.Errorf("got %v, want refused %v", err, c.refused)
			}
			if !c.refused && s.Seed != 7 {
				t.Errorf("got seed %d, %v, want 7", s.Seed, err)
			}
		})
	}
}
