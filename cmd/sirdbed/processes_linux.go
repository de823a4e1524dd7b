//go:build !portable

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A member is a process in a PID namespace at or below this process's own.
type member struct {
	pid    int // here
	inside int // in the namespace
}

// members lists the processes of a PID namespace that this user may look at.
func members(namespace string) (list []member) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if its, _ := os.Readlink(dir + "/ns/pid"); its != namespace {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if ids := statusOf(pid, "NSpid:"); len(ids) > 0 {
			if inside, err := strconv.Atoi(ids[len(ids)-1]); err == nil {
				list = append(list, member{pid, inside})
			}
		}
	}
	return list
}

// statusOf returns the values of a line of a process's status.
func statusOf(pid int, key string) []string {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if values, ok := strings.CutPrefix(line, key); ok {
			return strings.Fields(values)
		}
	}
	return nil
}

// parentOf returns a process's parent, 0 if it is not to be seen.
func parentOf(pid int) int {
	if v := statusOf(pid, "PPid:"); len(v) == 1 {
		n, _ := strconv.Atoi(v[0])
		return n
	}
	return 0
}

// localPID finds the process that has the given PID in a PID namespace below
// this one.
func localPID(namespace string, pid int) (int, error) {
	if namespace == pidNamespace() {
		return pid, nil
	}
	for _, m := range members(namespace) {
		if m.inside == pid {
			return m.pid, nil
		}
	}
	return 0, fmt.Errorf("its process %d of %s is gone, or belongs to another user", pid, namespace)
}

// A Program is a process that somebody has started in a node.
type Program struct {
	PID     int    `json:"pid"`
	Node    string `json:"node"`
	Command string `json:"command"`
}

// inhabitants are the processes of a fabric: those that keep it up, its hosts, and the
// programs in it.
func (s *State) inhabitants() (keepers []int, programs []Program) {
	if s.PIDNamespace == pidNamespace() { // of the engine virtual: there is no sandbox
		return []int{s.Controller}, s.programsInGuest()
	}
	list := members(s.PIDNamespace)
	hosts := map[int]bool{}
	for _, h := range s.Hosts {
		hosts[h.PID] = true
	}
	var controller int
	for _, m := range list {
		if m.inside == s.Controller {
			controller = m.pid
		}
	}
	for _, m := range list {
		switch {
		case m.inside == 1:
			if front := parentOf(m.pid); front > 0 {
				keepers = append(keepers, front)
			}
			keepers = append(keepers, m.pid)
		case m.inside == s.Controller || hosts[m.inside]:
			keepers = append(keepers, m.pid)
		default:
			if command := commandOf(m.pid); command != "" {
				programs = append(programs, Program{m.pid, s.nodeOf(m.pid, controller), command})
			}
		}
	}
	slices.Sort(keepers)
	return keepers, programs
}

// nodeOf names the node in whose namespace a process is.
func (s *State) nodeOf(pid, controller int) string {
	its, err := os.Stat(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return ""
	}
	for _, n := range s.Nodes {
		ns, err := os.Stat(fmt.Sprintf("/proc/%d/fd/%d", controller, n.Namespace))
		if err == nil && os.SameFile(its, ns) {
			return n.Name
		}
	}
	return ""
}

// commandOf is a process's command line, "" of one that has ended.
func commandOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))
}
