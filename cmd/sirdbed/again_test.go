package main

import (
	"bytes"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sirdbed/capture/results"
)

// The command on a run's page makes the run again, to the digest: of a scenario in the
// binary by its name, of any other from the result itself.
func TestPagesCommandRunsAgain(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	small := strings.Replace(allProtocols, "faults: {drop: 0.02}\ncapture: [leaf1, h2-1]\n", "", 1)
	small = strings.Replace(small, "protocols: [", "description: it's $(touch made) <b>\nprotocols: [", 1)
	other := runModel(t, small, "--variant", "sird,homa", "--seed", "7", "--set", "traffic.small.size=16B",
		"--set", "faults={drop: 0.01}")
	named := filepath.Join(t.TempDir(), "named")
	args := []string{"run", "quickstart", "--engine", "model", "--out", named, "--set", "duration=2ms"}
	var stderr bytes.Buffer
	if code := execute(t.Context(), args, &bytes.Buffer{}, &stderr); code != exitFine && code != exitUnmet {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	for dir, want := range map[string]string{
		named: "sirdbed run quickstart --engine model --seed 1 --set duration=2ms",
		other: "sirdbed run " + other + "/scenario.yaml --engine model --seed 7 --variant sird,homa " +
			"--set traffic.small.size=16B --set 'faults={drop: 0.01}'",
	} {
		page, err := os.ReadFile(filepath.Join(dir, "report.html"))
		must(t, err)
		_, command, _ := strings.Cut(string(page), "<pre><code>")
		command, _, _ = strings.Cut(command, "</code></pre>")
		if command = html.UnescapeString(command); command != want {
			t.Errorf("the command is\n%s, want\n%s", command, want)
			continue
		}
		// The shell takes it apart into the words that sirdbed gets.
		words := exec.CommandContext(t.Context(), sh, "-c", `sirdbed() { printf '%s\n' "$@"; }; `+command)
		text, err := words.Output()
		must(t, err)
		again := filepath.Join(t.TempDir(), "again")
		args := append(strings.Split(strings.TrimSpace(string(text)), "\n"), "--out", again)
		code := execute(t.Context(), args, &bytes.Buffer{}, &stderr)
		if code != exitFine && code != exitUnmet {
			t.Fatalf("%s: exit code %d: %s", command, code, &stderr)
		}
		first, err := results.ReadSummary(dir)
		must(t, err)
		second, err := results.ReadSummary(again)
		must(t, err)
		if first.Digest != second.Digest || len(first.Variants) != len(second.Variants) {
			t.Errorf("%s has the digest %s, the run had %s", command, second.Digest, first.Digest)
		}
	}
}

func TestQuotedWords(t *testing.T) {
	for word, want := range map[string]string{
		"a=b,c:1.5/x": "a=b,c:1.5/x", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "a[0]": "'a[0]'",
	} {
		if got := quoted(word); got != want {
			t.Errorf("%q is quoted %s, want %s", word, got, want)
		}
	}
}
