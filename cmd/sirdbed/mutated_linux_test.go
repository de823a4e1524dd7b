package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sirdbed/emu/effort"
)

const mutant = `name: mutant
topology: {leaves: 2, hosts_per_leaf: 2, spines: 2, host_rate: 100Gbps, host_delay: 1us,
  core_rate: 400Gbps, core_delay: 1us}
traffic:
  - {name: a, pattern: poisson, sizes: wka, load: 0.3, reply: 8B}
  - {name: b, pattern: incast, fan_in: 2, size: 20KB, interval: 50us}
variants: [{name: first}, {name: second, traffic: [a]}]
duration: 200us
drain: 100us
capture: [leaf1]
bounds: [{name: offered, metric: messages, stat: offered, min: 1}, {name: fast, metric: latency_us, stream: a, max: 1}]
`

// Whatever has become of a result's files, report and compare end soon, without a
// panic and without much memory, and say what is wrong. SIRDBED_MUTATED is how many
// results are harmed, 40 unless given.
func TestMutatedResults(t *testing.T) {
	t.Parallel()
	count := effort.Count(t, "SIRDBED_MUTATED", 40)
	dir := t.TempDir()
	file, good := filepath.Join(dir, "mutant.yaml"), filepath.Join(dir, "good")
	if err := os.WriteFile(file, []byte(mutant), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := limited(t, "run", file, "--engine", "model", "--out", good); code != 0 && code != exitUnmet {
		t.Fatalf("the run exits with %d: %s", code, out)
	}
	codes := map[int]int{}
	for seed := range uint64(count) {
		bad := filepath.Join(dir, "bad")
		if err := os.CopyFS(bad, os.DirFS(good)); err != nil {
			t.Fatal(err)
		}
		what := mutate(t, rand.New(rand.NewPCG(seed, 5)), bad)
		for _, args := range [][]string{{"report", bad}, {"compare", good, bad}, {"results", dir}} {
			out, code := limited(t, args...)
			codes[code]++
			if code < 0 || code > exitUnmet || (code == exitFailed || code == exitBadInput) &&
				!strings.Contains(out, "sirdbed: ") || strings.Contains(out, "goroutine ") ||
				strings.ContainsRune(out, '\x1b') {
				t.Errorf("seed %d, %s: %s exits with %d: %.3000s", seed, what, args[0], code, out)
			}
		}
		if err := os.RemoveAll(bad); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("exit codes of %d results: %v", count, codes)
}

// limited runs the program with at most 4 GB of addresses and a minute, and returns
// what it prints and its exit code, -1 if it was killed.
func limited(t *testing.T, args ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args = append([]string{"-c", `ulimit -v 4000000; exec "$0" "$@"`, "sirdbed"}, args...)
	c := exec.CommandContext(ctx, "sh", args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	return out.String(), c.ProcessState.ExitCode()
}

// others are what stands in place of a number.
var others = []string{
	"0", "-1", "1e308", "9223372036854775807", "18446744073709551616", "0.5", "1e-300", `"x"`, "null", "3600000000000",
}

var numbers = regexp.MustCompile(`[0-9]+`)

// mutate harms one to three files of a result, and says how.
func mutate(t *testing.T, r *rand.Rand, dir string) string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var did []string
	for range 1 + r.IntN(3) {
		path := files[r.IntN(len(files))]
		if r.IntN(3) > 0 { // what is read again, more often than what is made from it
			for filepath.Ext(path) != ".json" && filepath.Ext(path) != ".rec" {
				path = files[r.IntN(len(files))]
			}
		}
		name, _ := filepath.Rel(dir, path)
		how, err := harm(r, path, files)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed before
		}
		if err != nil {
			t.Fatal(err)
		}
		did = append(did, name+" "+how)
	}
	return strings.Join(did, ", ")
}

// harm harms the file at a path, which is one of a result's files, and returns how.
func harm(r *rand.Rand, path string, files []string) (how string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	switch r.IntN(8) {
	case 0:
		return "removed", os.Remove(path)
	case 1:
		return "cut", os.Truncate(path, r.Int64N(int64(len(text)+1)))
	case 2:
		other := files[r.IntN(len(files))]
		how = "swapped with " + filepath.Base(other)
		if b, err := os.ReadFile(other); err == nil { // not removed before
			return how, errors.Join(os.WriteFile(path, b, 0o600), os.WriteFile(other, text, 0o600))
		}
		return how, nil
	case 3:
		return "repeated", os.WriteFile(path, append(text, text...), 0o600)
	case 4, 5: // another number, where there are some
		all := numbers.FindAllIndex(text, -1)
		if len(all) > 0 && filepath.Ext(path) == ".json" {
			at := all[r.IntN(len(all))]
			value := others[r.IntN(len(others))]
			return fmt.Sprintf("%s instead of %s at %d", value, text[at[0]:at[1]], at[0]),
				os.WriteFile(path, slices.Concat(text[:at[0]], []byte(value), text[at[1]:]), 0o600)
		}
	}
	for range 1 + r.IntN(8) {
		if len(text) > 0 {
			text[r.IntN(len(text))] = byte(r.Uint32())
		}
	}
	return "flipped", os.WriteFile(path, text, 0o600)
}
