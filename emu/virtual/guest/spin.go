//go:build linux

package guest

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A program that spins, or only computes, stops the guest's clock for good: nothing else
// runs there until it sleeps, and no timer of the guest's ends it. The machine's clock
// does. Each address space of the guest is a process of the machine's, and the guest's
// kernel takes the death of one for a fatal signal of the programs in it: they end by
// SIGSEGV, and the guest goes on.

// SpinVar is the environment variable by which programs are told from one another.
const SpinVar = "SIRDBED_PROGRAM"

// A spinWatch adds up the processor time that a guest takes between two lines of its
// console.
type spinWatch struct {
	output time.Time             // of the last line at the last look
	since  map[int]time.Duration // processor time of its processes when that was seen
}

// spinShare is the share of the programs' processor time that one has taken that spins:
// it is alone. Where much is sent, several take turns.
const spinShare = 0.9

// look returns the process that has taken nearly all of the programs' processor time since
// the guest wrote last, if that is more than limit with the kernel's part; else 0.
func (w *spinWatch) look(kernel int, output time.Time, limit time.Duration) (pid int) {
	now := map[int]time.Duration{kernel: processorTime(kernel)}
	for _, p := range childrenOf(kernel) {
		now[p] = processorTime(p)
	}
	if w.since == nil || !output.Equal(w.output) {
		w.since, w.output = now, output
		return 0
	}
	var programs, most time.Duration
	for p, t := range now {
		t -= w.since[p]
		if p == kernel {
			continue
		}
		programs += t
		if t > most {
			pid, most = p, t
		}
	}
	if programs+now[kernel]-w.since[kernel] < limit || float64(most) < spinShare*float64(programs) {
		return 0
	}
	w.since = nil
	return pid
}

// childrenOf lists the processes that the threads of another have started.
func childrenOf(pid int) (list []int) {
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, thread := range threads {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, thread.Name()))
		for word := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}

// processorTime is what a process has taken, 0 of one that is gone.
func processorTime(pid int) time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	f := strings.Fields(string(rest))
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	const tick = time.Second / 100 // USER_HZ
	return time.Duration(user+system) * tick
}

// endSpinning ends the programs of a process that spins.
func (r *running) endSpinning(pid int) {
	name, file := identify(pid)
	if name != "" {
		_ = r.dir.root.WriteFile(path.Join(spunDir, path.Base(name)), nil, 0o600) // for Spun
	}
	_ = unix.Kill(pid, unix.SIGKILL)
	if r.config.Spun != nil {
		r.config.Spun(name, file)
	}
}

// identify finds what SpinVar was when the program of an address space was started, and
// the program's file. Both are at the end of the stack, which is the machine process's
// too: the environment, and behind it the name that was executed.
func identify(pid int) (name, file string) {
	maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	lines := strings.Split(strings.TrimSpace(string(maps)), "\n")
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return "", ""
	}
	defer mem.Close()
	const enough = 64 // pages of the stack may be mapped one by one
	for _, line := range slices.Backward(lines[max(0, len(lines)-enough):]) {
		var from, to uint64
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n != 2 || from > 1<<62 {
			continue
		}
		const most = 256 << 10 // of an environment
		from = max(from, to-min(to, most))
		page := make([]byte, to-from)
		if n, _ := mem.ReadAt(page, int64(from)); n < len(page) {
			continue
		}
		if _, value, ok := bytes.Cut(page, []byte("\x00"+SpinVar+"=")); ok {
			value, _, _ = bytes.Cut(value, []byte{0})
			all := bytes.TrimRight(page, "\x00")
			executed := all[bytes.LastIndexByte(all, 0)+1:]
			return string(value), path.Base(string(executed))
		}
	}
	return "", "a program"
}
