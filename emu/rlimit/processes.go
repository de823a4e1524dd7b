//go:build linux

package rlimit

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Processes returns an error if there may not be so many more processes, which each of
// their threads counts as: of this user (getrlimit(2)), or in this cgroup.
func Processes(more int) error {
	machine := os.DirFS("/")
	const unit = "more processes and threads"
	var l unix.Rlimit
	// Root has no limit of its own, and that of a sandbox was asked outside.
	if uid := os.Getuid(); uid != 0 && unix.Getrlimit(unix.RLIMIT_NPROC, &l) == nil && l.Cur != unix.RLIM_INFINITY {
		used := threadsOf(machine, uid)
		if left := l.Cur - min(l.Cur, used); left < uint64(more) {
			return &Error{unit: unit, need: uint64(more), have: left, remedy: fmt.Sprintf(
				"raise it with ulimit -u %d in the shell that starts sirdbed, or as root, as nproc in "+
					"/etc/security/limits.conf or as LimitNPROC of a systemd unit", used+uint64(more))}
		}
	}
	if left, group, ok := leftInGroup(machine); ok && left < uint64(more) {
		return &Error{unit: unit, need: uint64(more), have: left, remedy: fmt.Sprintf(
			"raise pids.max of the cgroup %s (TasksMax of a systemd unit, --pids-limit of a container)", group)}
	}
	return nil
}

// threadsOf counts the threads of a user, as far as they can be seen.
func threadsOf(machine fs.FS, uid int) (count uint64) {
	processes, _ := fs.ReadDir(machine, "proc")
	for _, p := range processes {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		info, err := p.Info()
		if err != nil { // it has ended
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) == uid {
			threads, _ := fs.ReadDir(machine, path.Join("proc", p.Name(), "task"))
			count += uint64(len(threads))
		}
	}
	return count
}

// leftInGroup returns how many more processes the cgroup of this process may have, or
// one above it that may have fewer. ok is false where none has a limit that can be read.
func leftInGroup(machine fs.FS) (left uint64, group string, ok bool) {
	text, err := fs.ReadFile(machine, "proc/self/cgroup")
	if err != nil {
		return 0, "", false
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // cgroups(7): number, controllers, path
		if len(fields) < 3 {
			continue
		}
		base := "sys/fs/cgroup"
		if fields[1] != "" { // of version 1
			if !slices.Contains(strings.Split(fields[1], ","), "pids") {
				continue
			}
			base += "/pids"
		}
		for at := path.Clean("/" + fields[2]); ; at = path.Dir(at) {
			most, limited := readCount(machine, path.Join(base, at, "pids.max"))
			used, counted := readCount(machine, path.Join(base, at, "pids.current"))
			if n := most - min(most, used); limited && counted && (!ok || n < left) {
				left, group, ok = n, at, true
			}
			if at == "/" {
				break
			}
		}
	}
	return left, group, ok
}

// readCount reads a file with one number. ok is false of one that says "max".
func readCount(machine fs.FS, name string) (n uint64, ok bool) {
	text, err := fs.ReadFile(machine, name)
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
