package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

var clock = time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)

func TestStateOfARunIsThereWhileItLives(t *testing.T) {
	t.Setenv(runtimeDirVar, filepath.Join(t.TempDir(), "runtime"))
	withdraw, err := publishState(State{Run: "incast-1-srpt", Started: clock, Hosts: []HostState{{"h1-1", os.Getpid()}}})
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
