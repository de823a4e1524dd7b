//go:build !portable

package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"sirdbed/emu"
	"sirdbed/topo"
)

// A State describes a fabric that is up to other sirdbed processes: its hosts, and
// which process to enter each by. It is a file in the runtime directory, named after
// the run, that its run keeps locked: one that is not locked belongs to a run that was
// killed.
//
// A state gets its name when it is locked and complete (publishState), and never
// another's name. Nobody else locks a state's first byte, not even to look at it. So
// what has a name and no lock is dead for good, and may be removed by whoever has
// locked its second byte (State.remove).
type State struct {
	Run          string      `json:"-"` // the file's name, see exec --run
	Scenario     string      `json:"scenario"`
	Variant      string      `json:"variant"`
	Engine       string      `json:"engine"`
	Results      string      `json:"results"`
	Started      time.Time   `json:"started"`
	PIDNamespace string      `json:"pid_namespace"` // in which the PIDs below count
	Controller   int         `json:"controller"`    // the process that keeps the fabric up
	Hosts        []HostState `json:"hosts"`

	Up       bool        `json:"up,omitempty"`   // by sirdbed up: without traffic, and its name is nobody else's
	File     string      `json:"file,omitempty"` // the scenario's
	Topology topo.Spec   `json:"topology"`
	Nodes    []NodeState `json:"nodes"`
	Socket   string      `json:"socket,omitempty"` // of a guest's fabric: where its keeper is asked to run programs
}

const (
	stateSuffix = ".json"
	draftSuffix = ".new" // of a state that has no name yet
	// maxState is the size of the largest state that is read, in bytes: 100,000 hosts.
	maxState = 8 << 20
	// maxRunName is the length of the longest name of a run, in bytes. File names have
	// 255.
	maxRunName = 200
)

// pidNamespace names the PID namespace of this process.
func pidNamespace() string {
	name, _ := os.Readlink("/proc/self/ns/pid")
	return name
}

// sweepStates removes the states of runs that were killed. It is best effort.
func sweepStates() {
	list, err := states()
	if err != nil {
		return
	}
	for _, s := range list.dead {
		_, _ = removeDead(s.Run + stateSuffix)
	}
}

// publishState writes the state of a fabric that has come up, and removes those that
// killed runs have left. If another run has its name, it gets a number, or if it is up
// an error that matches errNameTaken. The returned function withdraws it. PIDNamespace
// and Controller, when empty, are this process's own.
func publishState(s State) (withdraw func(), err error) {
	dir, err := makeRuntimeDir()
	if err != nil {
		return nil, err
	}
	if s.PIDNamespace == "" {
		s.PIDNamespace, s.Controller = pidNamespace(), os.Getpid()
	}
	sweepStates()
	for range 10 {
		// A clean that comes between creation and lock removes the draft.
		if withdraw, err = publishIn(dir, &s); !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	if err != nil {
		dir.Close()
		return nil, fmt.Errorf("state of the run: %w", err)
	}
	return withdraw, nil
}

func publishIn(dir *os.Root, s *State) (withdraw func(), err error) {
	draft := "." + rand.Text() + draftSuffix
	file, err := dir.OpenFile(draft, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if draftMade != nil {
		draftMade(draft)
	}
	name := ""
	if err = lockFile(file); err == nil {
		if err = json.NewEncoder(file).Encode(s); err == nil {
			name, err = nameState(dir, draft, s)
		}
	}
	_, _ = removeFile(dir, draft, file)
	if err != nil {
		file.Close()
		return nil, err
	}
	return func() {
		_, _ = removeFile(dir, name, file)
		file.Close()
		dir.Close()
	}, nil
}

// draftMade, when set by a test, is called between creation and lock.
var draftMade func(name string)

// errNameTaken matches the error of a fabric whose name another one has.
var errNameTaken = errors.New("another fabric has that name")

// nameState gives a draft the name of its run, or that with the first number that is
// free.
func nameState(dir *os.Root, draft string, s *State) (name string, err error) {
	for n := 1; ; n++ {
		name = s.Run + stateSuffix
		if n > 1 {
			name = fmt.Sprintf("%s-%d%s", s.Run, n, stateSuffix)
		}
		err = dir.Link(draft, name)
		if errors.Is(err, os.ErrExist) && s.Up {
			return name, errNameTaken
		}
		if !errors.Is(err, os.ErrExist) || n == 1000 {
			return name, err
		}
	}
}

// runName names the run of a variant after its results. It can be a file's name, and
// be written to a terminal.
func runName(results, variant string) string {
	name := strings.Map(func(r rune) rune {
		if r == '/' || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, filepath.Base(results)+"-"+variant)
	for len(name) > maxRunName {
		runes := []rune(name)
		name = string(runes[:len(runes)-1])
	}
	return name
}

// publish returns the function that makes the hosts of a variant known to exec while
// they run.
func (r *scenarioRun) publish(x *emu.Experiment) func([]HostState, []NodeState) {
	withdraw := func() {}
	return func(hosts []HostState, nodes []NodeState) {
		withdraw()
		withdraw = func() {}
		if len(nodes) == 0 {
			return
		}
		results, _ := filepath.Abs(r.dir.Path())
		w, err := publishState(State{
			Run: runName(results, x.Variant), Scenario: x.Scenario, Variant: x.Variant,
			Engine: string(r.engine), Results: results, Started: time.Now(), Hosts: hosts,
			File: absolute(r.scenario.File()), Topology: x.Topology, Nodes: nodes,
		})
		if err != nil { // the run itself is fine without
			fmt.Fprintf(r.stderr, "exec will not find this run: %v\n", err)
			return
		}
		withdraw = w
	}
}

// absolute is the path of a file from the root, if there is such a file.
func absolute(path string) string {
	abs, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(abs)
	}
	if err == nil {
		return abs
	}
	return path
}

// A stateList is what the runtime directory has, newest first.
type stateList struct {
	live   []State
	dead   []State  // that killed runs have left
	drafts []string // without a name of their own: of runs that begin just now, or were killed then
	unread []error  // what could not be read, and why
}

// states reads all state files.
func states() (*stateList, error) {
	list := &stateList{}
	dir, err := openRuntimeDir()
	if errors.Is(err, os.ErrNotExist) {
		return list, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	top, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer top.Close()
	names, err := top.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("runtime directory: %w", err)
	}
	for _, name := range names {
		list.read(dir, name)
	}
	for _, states := range [][]State{list.live, list.dead} {
		slices.SortFunc(states, func(a, b State) int { return b.Started.Compare(a.Started) })
	}
	return list, nil
}

// read adds the file of a name to the list.
func (l *stateList) read(dir *os.Root, name string) {
	run, isState := strings.CutSuffix(name, stateSuffix)
	if strings.HasSuffix(name, draftSuffix) {
		l.drafts = append(l.drafts, name)
	}
	if !isState {
		return
	}
	s := State{Run: run}
	file, err := openOwn(dir, name)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err == nil {
		defer file.Close()
		err = json.NewDecoder(io.LimitReader(file, maxState)).Decode(&s)
		if !lockedElsewhere(file) { // whatever it has in it
			l.dead = append(l.dead, s)
			return
		}
	}
	if err != nil {
		l.unread = append(l.unread, fmt.Errorf("%q in %s is left alone: %w: remove it if no run is up",
			name, runtimeDir(), err))
		return
	}
	l.live = append(l.live, s)
}

// cleaningByte is the byte of a state that is locked by who removes it.
const cleaningByte = 1

// removeDead removes a file of the runtime directory unless a run has it locked. It
// reports whether it did: others may be at it too.
func removeDead(name string) (removed bool, err error) {
	dir, err := openRuntimeDir()
	if err != nil {
		return false, err
	}
	defer dir.Close()
	file, err := openOwn(dir, name)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	if lockByte(file, cleaningByte) != nil || lockedElsewhere(file) {
		return false, nil
	}
	return removeFile(dir, name, file)
}
