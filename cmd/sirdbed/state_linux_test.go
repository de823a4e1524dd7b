//go:build !portable

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// published publishes a state, which is withdrawn when the test is over, if not before.
func published(t *testing.T, s State) (withdraw func()) {
	t.Helper()
	withdraw, err := publishState(s)
	if err != nil {
		t.Fatal(err)
	}
	withdraw = sync.OnceFunc(withdraw)
	t.Cleanup(withdraw)
	return withdraw
}

// statesAre fails unless the live runs, newest first, and the dead ones are as given.
func statesAre(t *testing.T, live, dead string) {
	t.Helper()
	list, err := states()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(runNames(list.live), " "); got != live {
		t.Errorf("live are %q, want %q", got, live)
	}
	if got := strings.Join(runNames(list.dead), " "); got != dead {
		t.Errorf("dead are %q, want %q", got, dead)
	}
}

func TestStateOfARunIsThereWhileItLives(t *testing.T) {
	t.Setenv(runtimeDirVar, filepath.Join(t.TempDir(), "runtime"))
	withdraw := published(t, State{Run: "incast-1-srpt", Started: began, Hosts: []HostState{{"h1-1", os.Getpid()}}})
	withdrawNewer := published(t, State{Run: "outcast-1", Started: began.Add(time.Second)})
	statesAre(t, "outcast-1 incast-1-srpt", "")
	if s, err := chooseRun("", io.Discard); err != nil || s.Run != "outcast-1" {
		t.Errorf("the newest run is %v, %v", s, err)
	}
	s, err := chooseRun("incast", io.Discard)
	if err != nil || s.Hosts[0].Name != "h1-1" || s.PIDNamespace != pidNamespace() {
		t.Errorf("the run whose name begins with incast is %v, %v", s, err)
	}
	withdraw()
	withdrawNewer()
	statesAre(t, "", "")
	if left, err := os.ReadDir(runtimeDir()); err != nil || len(left) > 0 {
		t.Errorf("left: %v (%v)", left, err)
	}
}

// Runs whose results have the same name have states of their own, and exec finds each.
func TestRunsOfOneName(t *testing.T) {
	t.Setenv(runtimeDirVar, filepath.Join(t.TempDir(), "runtime"))
	for i, results := range []string{"/a/out", "/b/out", "/c/out"} {
		published(t, State{Run: "out-sird", Results: results, Started: began.Add(time.Duration(i) * time.Second)})
	}
	statesAre(t, "out-sird-3 out-sird-2 out-sird", "")
	for name, want := range map[string]string{"out-sird": "/a/out", "out-sird-2": "/b/out", "out": "/c/out"} {
		if s, err := chooseRun(name, io.Discard); err != nil || s.Results != want {
			t.Errorf("%s is %v (%v), want results in %s", name, s, err, want)
		}
	}
}

// A clean that comes when a state has been created and not been locked yet does not
// cost the run its state, nor does one at any other time.
func TestCleanSparesRunsThatBegin(t *testing.T) {
	t.Setenv(runtimeDirVar, filepath.Join(t.TempDir(), "runtime"))
	cleaned := 0
	draftMade = func(string) {
		if cleaned++; cleaned < 5 {
			execute(t.Context(), []string{"clean"}, io.Discard, io.Discard)
		}
	}
	defer func() { draftMade = nil }()
	published(t, State{Run: "begins"})
	if code := execute(t.Context(), []string{"clean"}, io.Discard, io.Discard); code != exitFine {
		t.Errorf("exit code %d", code)
	}
	statesAre(t, "begins", "")
	if cleaned != 5 {
		t.Errorf("%d drafts were made, want a new one for each that was removed", cleaned)
	}
}

// Who looks whether a file is locked does not keep others from locking it.
func TestLooksTakeNoLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var files [3]*os.File
	for i := range files {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		files[i] = file
	}
	if lockedElsewhere(files[0]) {
		t.Error("it is locked before anybody has locked it")
	}
	if err := lockFile(files[1]); err != nil {
		t.Errorf("somebody has looked at it, and it cannot be locked: %v", err)
	}
	if !lockedElsewhere(files[0]) || lockFile(files[2]) == nil {
		t.Error("a lock keeps nobody out")
	}
}

// A file that nobody has locked is a dead run's, whatever it has in it, and clean
// removes it; so it does with what a run that was killed while it published has left.
func TestCleanRemovesTheDead(t *testing.T) {
	t.Setenv(runtimeDirVar, filepath.Join(t.TempDir(), "runtime"))
	published(t, State{Run: "lives"})
	for name, text := range map[string]string{"whole.json": `{"scenario": "x"}`, "cut.json": `{"sce`, "empty.json": "",
		".a" + draftSuffix: "{"} {
		if err := os.WriteFile(filepath.Join(runtimeDir(), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code := execute(t.Context(), []string{"clean"}, io.Discard, io.Discard); code != exitFine {
		t.Errorf("exit code %d", code)
	}
	if got := namesIn(t, runtimeDir()); got != "lives.json" {
		t.Errorf("left: %s", got)
	}
}

// What killed runs have left goes when the next run begins, which has its own name then.
func TestARunSweepsTheStatesOfTheDead(t *testing.T) {
	t.Setenv(runtimeDirVar, filepath.Join(t.TempDir(), "runtime"))
	published(t, State{Run: "lives"})
	for _, name := range []string{"kr-sird.json", "kr-sird-2.json"} {
		if err := os.WriteFile(filepath.Join(runtimeDir(), name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	published(t, State{Run: "kr-sird"})
	if got := namesIn(t, runtimeDir()); got != "kr-sird.json lives.json" {
		t.Errorf("left: %s", got)
	}
}

// namesIn lists what is in a directory.
func namesIn(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// Results can have any name, those of runs are names of files and fit on a line.
func TestRunNames(t *testing.T) {
	for _, c := range []struct{ results, variant, want string }{
		{"/home/me/results/incast-20250101-120000", "srpt", "incast-20250101-120000-srpt"},
		{"/tmp/a\x1b[2Jb\n", "v", "a_[2Jb_-v"},
		{"/", "v", "_-v"},
		{"/" + strings.Repeat("\u00e9", 300), "v", strings.Repeat("\u00e9", 100)},
	} {
		if got := runName(c.results, c.variant); got != c.want {
			t.Errorf("results %q: %q, want %q", c.results, got, c.want)
		}
	}
}

func TestLocalPID(t *testing.T) {
	if pid, err := localPID(pidNamespace(), 42); pid != 42 || err != nil {
		t.Errorf("in this namespace 42 is %d, %v", pid, err)
	}
	if _, err := localPID("pid:[1]", 42); err == nil {
		t.Error("found a process in a namespace that does not exist")
	}
}

func TestNodesOfLiveRunsAreCompleted(t *testing.T) {
	t.Setenv(runtimeDirVar, filepath.Join(t.TempDir(), "runtime"))
	if got := completed(t, "exec", ""); !strings.HasPrefix(got, "_activeHelp_ no fabric of this user is up") {
		t.Errorf("got %q, want a word on how to start one", got)
	}
	for i, s := range []State{
		{Run: "incast-1", Nodes: []NodeState{{Name: "h1-1", Namespace: 1}, {Name: "h1-2", Namespace: 2},
			{Name: "h2-1", Namespace: 3}}},
		{Run: "outcast-1", Nodes: []NodeState{{Name: "h1-7", Namespace: 1}}},
	} {
		s.Started = began.Add(time.Duration(i) * time.Second)
		published(t, s)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"exec", ""}, "h1-7\n:4\n"}, // of the newest
		{[]string{"exec", "--run", "incast", "h1"}, "h1-1\nh1-2\n:4\n"},
		{[]string{"exec", "--run", "i"}, "incast-1\n:4\n"},
		{[]string{"exec", "h1-7", "l"}, ":0\n"}, // a command, or its files
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			if got := completed(t, c.args...); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// completed is what the shell is offered for a command line.
func completed(t *testing.T, args ...string) string {
	t.Helper()
	var stdout bytes.Buffer
	if code := execute(t.Context(), append([]string{"__complete"}, args...), &stdout, io.Discard); code != exitFine {
		t.Errorf("exit code %d", code)
	}
	return stdout.String()
}
