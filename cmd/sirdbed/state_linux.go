//go:build !portable

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sirdbed/emu"
)

// A State describes a fabric that is up to other sirdbed processes: its hosts, and
// which process to enter each by. It is a file in the runtime directory that its
// run keeps locked: one that is not locked belongs to a run that was killed.
type State struct {
	Run          string      `json:"run"` // names it, see exec --run
	Scenario     string      `json:"scenario"`
	Variant      string      `json:"variant"`
	Engine       string      `json:"engine"`
	Results      string      `json:"results"`
	Started      time.Time   `json:"started"`
	PIDNamespace string      `json:"pid_namespace"` // in which the PIDs below count
	Hosts        []HostState `json:"hosts"`

	path string
}

// runtimeDir returns where state files are. A process in a user namespace takes
// itself for root, so what starts one passes the directory on in
// $SIRDBED_RUNTIME_DIR.
func runtimeDir() string {
	if dir := os.Getenv(runtimeDirVar); dir != "" {
		return dir
	}
	if os.Getuid() == 0 {
		return "/run/sirdbed"
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "sirdbed")
	}
	return fmt.Sprintf("/tmp/sirdbed-%d", os.Getuid())
}

// pidNamespace names the PID namespace of this process.
func pidNamespace() string {
	name, _ := os.Readlink("/proc/self/ns/pid")
	return name
}

// publishState writes the state of a fabric that has come up. The returned
// function withdraws it. PIDNamespace, when empty, is this process's own.
func publishState(s State) (withdraw func(), err error) {
	dir := runtimeDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("runtime directory: %w", err)
	}
	if s.PIDNamespace == "" {
		s.PIDNamespace = pidNamespace()
	}
	s.path = filepath.Join(dir, s.Run+".json")
	file, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("state of the run: %w", err)
	}
	withdraw = func() {
		os.Remove(s.path)
		file.Close()
	}
	if err := lockFile(file); err != nil {
		file.Close()
		return nil, fmt.Errorf("state of the run: %s is another run's: %w", s.path, err)
	}
	if err := json.NewEncoder(file).Encode(s); err != nil {
		withdraw()
		return nil, fmt.Errorf("state of the run: %w", err)
	}
	return withdraw, nil
}

// publish returns the function that makes the hosts of a variant known to exec while
// they run.
func (r *scenarioRun) publish(x *emu.Experiment) func([]HostState) {
	withdraw := func() {}
	return func(hosts []HostState) {
		withdraw()
		withdraw = func() {}
		if len(hosts) == 0 {
			return
		}
		results, _ := filepath.Abs(r.dir.Path())
		w, err := publishState(State{
			Run: filepath.Base(results) + "-" + x.Variant, Scenario: x.Scenario, Variant: x.Variant,
			Engine: string(r.engine), Results: results, Started: time.Now(), Hosts: hosts,
		})
		if err != nil { // the run itself is fine without
			fmt.Fprintf(r.stderr, "exec will not find this run: %v\n", err)
			return
		}
		withdraw = w
	}
}

// states reads all state files, newest first: those of live runs, and those that
// killed ones left.
func states() (live, dead []State, err error) {
	files, err := filepath.Glob(filepath.Join(runtimeDir(), "*.json"))
	if err != nil {
		return nil, nil, err
	}
	for _, path := range files {
		s := State{Run: strings.TrimSuffix(filepath.Base(path), ".json"), path: path}
		alive, err := s.read()
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil && !alive:
			dead = append(dead, s) // killed while it wrote the file
		case err != nil:
			return nil, nil, err
		case alive:
			live = append(live, s)
		default:
			dead = append(dead, s)
		}
	}
	for _, list := range [][]State{live, dead} {
		slices.SortFunc(list, func(a, b State) int { return b.Started.Compare(a.Started) })
	}
	return live, dead, nil
}

func (s *State) read() (alive bool, err error) {
	file, err := os.Open(s.path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	alive = lockedElsewhere(file)
	path := s.path
	if err := json.NewDecoder(file).Decode(s); err != nil {
		return alive, fmt.Errorf("%s: %w", path, err)
	}
	s.path = path
	return alive, nil
}
