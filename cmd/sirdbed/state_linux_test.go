//go:build !portable

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestStateOfARunIsThereWhileItLives(t *testing.T) {
	t.Setenv(runtimeDirVar, filepath.Join(t.TempDir(), "runtime"))
	hosts := []HostState{{"h1-1", os.Getpid()}}
	withdraw, err := publishState(State{Run: "incast-1-srpt", Started: clock, Hosts: hosts})
	if err != nil {
		t.Fatal(err)
	}
	withdrawNewer, err := publishState(State{Run: "outcast-1", Started: clock.Add(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	if live, dead, err := states(); err != nil || len(live) != 2 || len(dead) != 0 {
		t.Fatalf("%d live, %d dead, %v", len(live), len(dead), err)
	}
	if s, err := chooseRun(""); err != nil || s.Run != "outcast-1" {
		t.Errorf("the newest run is %v, %v", s, err)
	}
	if s, err := chooseRun("incast"); err != nil || s.Hosts[0].Name != "h1-1" || s.PIDNamespace != pidNamespace() {
		t.Errorf("the run whose name begins with incast is %v, %v", s, err)
	}
	if _, err := publishState(State{Run: "outcast-1"}); err == nil {
		t.Error("two runs have the same state file")
	}
	withdraw()
	withdrawNewer()
	if live, dead, err := states(); err != nil || len(live)+len(dead) != 0 {
		t.Errorf("%d live, %d dead, %v", len(live), len(dead), err)
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

func TestHostsOfLiveRunsAreCompleted(t *testing.T) {
	t.Setenv(runtimeDirVar, filepath.Join(t.TempDir(), "runtime"))
	if got := completed(t, "exec", ""); !strings.HasPrefix(got, "_activeHelp_ no fabric of this user is up") {
		t.Errorf("got %q, want a word on how to start one", got)
	}
	for i, s := range []State{
		{Run: "incast-1", Hosts: []HostState{{"h1-1", 1}, {"h1-2", 2}, {"h2-1", 3}}},
		{Run: "outcast-1", Hosts: []HostState{{"h1-7", 1}}},
	} {
		s.Started = clock.Add(time.Duration(i) * time.Second)
		withdraw, err := publishState(s)
		if err != nil {
			t.Fatal(err)
		}
		defer withdraw()
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
