package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What reproduce and sweep are told that cannot be is refused before anything is run, by the name
// of the option.
func TestRefusedPlans(t *testing.T) {
	full := t.TempDir()
	must(t, os.WriteFile(filepath.Join(full, "old"), nil, 0o666))
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o666))
	for _, c := range []struct{ line, want string }{
		{"reproduce all fig99", "want all alone"},
		{"reproduce fig99", `no figure is called "fig99": use one of fig1, `},
		{"reproduce --protocols sird,none", `--protocols: no protocol is called "none": use one of `},
		{"reproduce --protocols +", `--protocols: no protocol is called ""`},
		{"reproduce --protocols=", "--protocols is given, and empty"},
		{"reproduce --protocols sird,,homa", "--protocols is given, and empty"},
		{"reproduce fig11 --scale smoke --out " + full, "is not empty (it has old)"},
		{"reproduce fig11 --scale smoke --points " + file, "--points: "},
		{"sweep small-wkb --variant=", "--variant is given, and empty"},
		{"sweep small-wkb --out " + full, "is not empty (it has old)"},
		{"sweep small-wkb --out " + file, "--out: "},
		{"sweep small-wkb --seeds 1..3 --over seed=7", "two axes are called seed"},
		{"sweep small-wkb --json --dry-run", "--json is of results"},
	} {
		args := strings.Fields(c.line)
		if !slices.Contains(args, "--points") {
			args = append(args, "--points", filepath.Join(t.TempDir(), "points"))
		}
		var out, said bytes.Buffer
		code := execute(t.Context(), args, &out, &said)
		if code != exitBadInput || !strings.Contains(said.String(), c.want) || strings.Contains(said.String(), "[1/") {
			t.Errorf("%s: exit code %d and\n%swant %q before a point is run", c.line, code, &said, c.want)
		}
	}
}

// The command in a reproduction's results is that of its figures and protocols.
func TestReproductionNamesItsCommand(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	args := []string{
		"reproduce", "fig11", "--scale", "smoke", "--seeds", "1", "--jobs", "1", "--for", "1h",
		"--points", filepath.Join(t.TempDir(), "points"), "--out", out,
	}
	var said bytes.Buffer
	if code := execute(t.Context(), args, &bytes.Buffer{}, &said); code != exitFine {
		t.Fatalf("exit code %d: %s", code, &said)
	}
	said.Reset()
	if code := execute(t.Context(), []string{"report", out}, &bytes.Buffer{}, &said); code != exitBadInput ||
		!strings.Contains(said.String(), "by the same command") {
		t.Errorf("report has exit code %d: %s", code, &said)
	}
	for _, name := range []string{"report.html", resultsText} {
		text, err := os.ReadFile(filepath.Join(out, name))
		must(t, err)
		if want := "sirdbed reproduce fig11 --scale smoke --seeds 1"; !strings.Contains(string(text), want) ||
			strings.Contains(string(text), want+" ") {
			t.Errorf("%s has no command %s", name, want)
		}
	}
}
