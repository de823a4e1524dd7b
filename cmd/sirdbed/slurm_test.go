package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sirdbed/capture/points"
	"sirdbed/scenarios/sweep"
)

// What squeue prints is taken as a whole or not at all.
func TestParseTasks(t *testing.T) {
	got, err := parseTasks("7|0|PENDING\n7|11|NODE_FAIL\n8|N/A|CANCELLED\n")
	want := map[slurmTask]taskState{{7, 0}: "PENDING", {7, 11}: "NODE_FAIL", {8, rest}: "CANCELLED"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if got, err := parseTasks(""); err != nil || len(got) != 0 {
		t.Errorf("nothing: got %v, %v", got, err)
	}
	for _, bad := range []string{
		"7|0|PENDING\n\n", "CLUSTER: c\n7|0|PENDING\n", "7_0|0|PENDING", "7|0-3|PENDING", "7|N|RUNNING", "7|0|",
		"7|0|running", "7|0|PENDING|", " 7|0|PENDING", "-7|0|PENDING", "7|0|PENDING\r\n",
		"9999999999999999999|0|PENDING",
	} {
		if got, err := parseTasks(bad); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

// submitting returns a batch of n jobs, and what its sbatch was called with, line by line.
// That reads the script, writes an outcome of each task if there is one to write, and prints
// one number after the other.
func submitting(t *testing.T, n int, outcome string) (b *slurmBatch, calls func() []string) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	bin := t.TempDir()
	script := `#!/bin/sh
cat >>script
echo "$*" >>calls
for option; do
  case $option in
  --array=0-*) last=${option#--array=0-} ;;
  --chdir=*) dir=${option#--chdir=} ;;
  esac
done
while [ -n "$OUTCOME" ] && [ $last -ge 0 ]; do
  printf "$OUTCOME" >"$dir/$last.outcome.json"
  last=$((last - 1))
done
wc -l <calls | tr -d ' '
`
	for _, name := range []string{"sbatch", "squeue", "scancel"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("OUTCOME", outcome)
	t.Chdir(t.TempDir())
	store, err := points.OpenStore("points")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := &sweeper{store: store, shown: newSweepProgress(io.Discard)}
	var queue []int
	for i := range n {
		j := sweep.Job{At: []sweep.Coordinate{{Axis: "n", Label: fmt.Sprint(i)}}, Cost: 1}
		j.Address = points.Address{Key: fmt.Sprintf("%016d", i), Code: "code"}
		s.jobs, queue = append(s.jobs, j), append(queue, i)
	}
	s.found = make([]*points.Point, n)
	s.shown.begin(s, queue)
	if b, err = newSlurmBatch(s, []string{"--qos=a b"}, queue); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.dir.Close() })
	return b, func() []string {
		text, err := os.ReadFile("calls")
		if err != nil {
			t.Fatal(err)
		}
		return slices.Collect(strings.Lines(string(text)))
	}
}

// A grid takes as many arrays as it needs, each with the jobs that follow.
func TestSlurmArrays(t *testing.T) {
	b, calls := submitting(t, 2*maxArray+5, `{"format": 1, "ended": "late"}`)
	if err := b.submitAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	var ranges []string
	for _, call := range calls() {
		_, after, _ := strings.Cut(call, "--array=")
		ranges = append(ranges, strings.Fields(after)[0])
		if !strings.HasPrefix(call, "--qos=a b --parsable ") {
			t.Errorf("sbatch was called with %s", call)
		}
	}
	if want := []string{"0-999", "0-999", "0-4"}; !reflect.DeepEqual(ranges, want) {
		t.Errorf("the arrays have tasks %v, want %v", ranges, want)
	}
	if task, err := readTask(b.arrays[2].dir, taskFile(4)); err != nil || task.Name != "n=2004" {
		t.Errorf("the last task is %+v, %v", task, err)
	}
	if !b.gather() || b.open() != 0 || b.s.missingPoints() != 2*maxArray+5 || len(b.s.failures) != 0 {
		t.Errorf("%d open, %d missing, failures %v", b.open(), b.s.missingPoints(), b.s.failures)
	}
	b.close()
	if keys, err := os.ReadDir("points"); err != nil || len(keys) != 0 {
		t.Errorf("there is still %v, %v", keys, err)
	}
}

// What becomes of a task without an outcome, by its state.
func TestTasksWithoutOutcome(t *testing.T) {
	const forever = 20
	for _, c := range []struct {
		state    taskState
		runs     int    // tasks until the point has failed; forever: it never does
		waits    bool   // for a file that may still be seen
		contains string // in the failure
	}{
		{"PENDING", forever, false, ""},
		{"RUNNING", forever, false, ""},
		{"COMPLETING", forever, false, ""},
		{"OF_A_LATER_SLURM", forever, false, ""},
		{"PREEMPTED", forever, false, ""},
		{"NODE_FAIL", 4, false, "submitted 4 times, and no task came to an end: the last, 4_0, is node_fail"},
		{"BOOT_FAIL", 4, false, "the last, 4_0, is boot_fail"},
		{"FAILED", 4, true, "the last, 4_0, is failed; it printed: out of luck"},
		{"COMPLETED", 4, true, "the last, 4_0, is completed"},
		{"", 4, true, "the last, 4_0, is gone"},
		{"TIMEOUT", 1, true, "its task 1_0 was ended by Slurm: timeout; it printed: out of luck"},
		{"CANCELLED", 1, true, "cancelled"},
		{"OUT_OF_MEMORY", 1, true, "out_of_memory"},
	} {
		t.Run(string(c.state), func(t *testing.T) {
			b, calls := submitting(t, 1, "")
			runs := 0
			for len(b.s.failures) == 0 && runs < forever {
				runs++
				if err := b.submitAll(t.Context()); err != nil {
					t.Fatal(err)
				}
				a := b.arrays[len(b.arrays)-1]
				states := map[slurmTask]taskState{{a.id, 0}: c.state}
				if c.state == "" {
					clear(states)
				}
				if err := a.dir.WriteText(taskLog(0), []byte("out of luck\n")); err != nil {
					t.Fatal(err)
				}
				b.grace = time.Hour
				b.look(states)
				if waits := len(a.gone) > 0; waits != (c.waits || fateOf(c.state) == unfinished) {
					t.Fatalf("it waits: %v", waits)
				}
				b.grace = 0
				b.look(states)
			}
			if runs != c.runs {
				t.Errorf("%d tasks, want %d: %v", runs, c.runs, b.s.failures)
			}
			if c.runs == forever {
				return
			}
			if err := b.s.failures[0].err; len(calls()) != c.runs || !strings.Contains(err.Error(), c.contains) {
				t.Errorf("%d arrays, %v, want %q", len(calls()), err, c.contains)
			}
		})
	}
}

// Tasks that were canceled before they began have a line together, and fail.
func TestRestOfArrayCanceled(t *testing.T) {
	b, _ := submitting(t, 3, "")
	if err := b.submitAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.grace = 0
	id := b.arrays[0].id
	b.look(map[slurmTask]taskState{{id, 0}: "RUNNING", {id, rest}: "CANCELLED"})
	if len(b.s.failures) != 2 || b.open() != 1 || len(b.waiting) != 0 {
		t.Errorf("%d open, %d wait, failures %v", b.open(), len(b.waiting), b.s.failures)
	}
}

// A task that has begun again counts as gone only from its next end on.
func TestGraceBeginsAnew(t *testing.T) {
	b, _ := submitting(t, 1, "")
	if err := b.submitAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.look(nil)
	if b.arrays[0].gone[0].IsZero() {
		t.Error("a task that Slurm does not have is not over")
	}
	b.look(map[slurmTask]taskState{{b.arrays[0].id, 0}: "RUNNING"})
	if !b.arrays[0].gone[0].IsZero() {
		t.Error("a task that runs is over")
	}
}

// An outcome without its point is none: the point may have been damaged since.
func TestOutcomeWithoutPoint(t *testing.T) {
	b, _ := submitting(t, 1, `{"format": 1, "ended": "done"}`)
	if err := b.submitAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b.gather() || b.open() != 1 {
		t.Error("it is taken for the point")
	}
	b.grace = 0
	b.look(map[slurmTask]taskState{{b.arrays[0].id, 0}: "COMPLETED"})
	if !slices.Equal(b.waiting, []int{0}) {
		t.Errorf("%v waits, want the job", b.waiting)
	}
	for _, text := range []string{"", "{", `{"format": 2, "ended": "late"}`, `{"format": 1, "ended": "well"}`} {
		b.arrays[0].gone[0] = time.Time{}
		if err := b.arrays[0].dir.WriteText(outcomeFile(taskFile(0)), []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b.gather() {
			t.Errorf("%q is an outcome", text)
		}
	}
}

// Programs that fail once there are tasks are tried again for an hour.
func TestTrouble(t *testing.T) {
	b, _ := submitting(t, 1, "")
	broken, calls := fmt.Errorf("no controller"), 0
	fails := func() error { calls++; return broken }
	if err := b.sbatch.try(b, fails); err != broken {
		t.Errorf("at first: got %v, want the error", err)
	}
	b.submitted = true
	for range 3 {
		if err := b.sbatch.try(b, fails); err != nil {
			t.Error(err)
		}
	}
	if calls != 2 {
		t.Errorf("called %d times at once, want twice", calls)
	}
	b.sbatch = trouble{since: time.Now().Add(-2 * maxTrouble)}
	b.sbatch.waived()
	if err := b.sbatch.try(b, fails); err != nil {
		t.Errorf("though points ended: %v", err)
	}
	b.sbatch = trouble{since: time.Now().Add(-2 * maxTrouble)}
	if err := b.sbatch.try(b, fails); err == nil {
		t.Error("after two hours it is still tried")
	}
	b.sbatch = trouble{since: time.Now()}
	if err := b.sbatch.try(b, func() error { return nil }); err != nil || b.sbatch != (trouble{}) {
		t.Errorf("%v, %+v", err, b.sbatch)
	}
}

// Directories of batches go when they are old, those of batches that live do not.
func TestOldBatchesAreRemoved(t *testing.T) {
	b, _ := submitting(t, 1, "")
	old := time.Now().Add(-batchAge - time.Hour)
	const killed, running = "points/sirdbed-oldoldold2", "points/sirdbed-newnewnew7"
	for _, name := range []string{killed + "/0", running + "/0", "points/sirdbed-1.0/0", "points/other/0"} {
		if err := os.MkdirAll(name, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{b.path, killed, "points/sirdbed-1.0", "points/other"} {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	b.mark()
	removeOldBatches("points")
	for name, want := range map[string]bool{
		b.path: true, killed: false, running: true, "points/sirdbed-1.0": true, "points/other": true,
	} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", name, err, want)
		}
	}
}

// A shell takes each text as the one word that it is.
func TestShellQuoted(t *testing.T) {
	for _, text := range []string{"/a b", "it's", `$HOME "\n" 100%`, "''", "a\nb"} {
		out, err := exec.Command("sh", "-c", "printf %s "+shellQuoted(text)).Output()
		if err != nil || !bytes.Equal(out, []byte(text)) {
			t.Errorf("%q is %q, %v", text, out, err)
		}
	}
}
