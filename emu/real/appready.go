//go:build linux

package real

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"sirdbed/emu"
)

// isReady looks whether the program is ready that runs. Its output says so itself.
func (a *app) isReady() bool {
	switch a.is.Kind {
	case emu.ReadyStarted:
		return true
	case emu.ReadyFile:
		_, err := os.Stat(a.is.Path)
		return err == nil
	case emu.ReadyPort:
		listens := false
		err := a.apps.run.fabric.Do(a.node, func() error {
			listens = listening(a.is.Port)
			return nil
		})
		return err == nil && listens
	}
	return false
}

// listening reports whether a TCP socket listens on a port, in the calling thread's
// network namespace.
func listening(port int) bool {
	const listen = "0A"
	for _, table := range []string{"tcp", "tcp6"} {
		text, _ := os.ReadFile("/proc/thread-self/net/" + table)
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line) // number, local address, remote address, state
			if len(f) < 4 || f[3] != listen {
				continue
			}
			_, local, _ := strings.Cut(f[1], ":")
			if n, err := strconv.ParseUint(local, 16, 16); err == nil && int(n) == port {
				return true
			}
		}
	}
	return false
}

// marked reports whether a process is of a program, which it has from whoever started it.
func marked(pid int) bool {
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(append([]byte{0}, environment...), []byte("\x00"+appVar+"="))
}

// maxAppOutput is how much of a program's output is kept, in bytes.
const maxAppOutput = 1 << 20

// maxAppLine is the longest line of a program that is looked at whole.
const maxAppLine = 64 << 10

// An appOutput keeps what a program prints, its standard output and error in the order in
// which they came, and sees the line that says that it is ready.
type appOutput struct {
	mu      sync.Mutex
	file    *os.File
	bytes   int64
	err     error
	awaited *regexp.Regexp // nil: no line is, any more
	line    []byte
	matched chan struct{} // closed when the line has come
	closes  chan struct{} // the same, for Write
}

func newAppOutput(file *os.File, awaited *regexp.Regexp) *appOutput {
	matched := make(chan struct{})
	return &appOutput{file: file, awaited: awaited, matched: matched, closes: matched}
}

// Write implements io.Writer. What the disk does not take fails no program.
func (o *appOutput) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if room := maxAppOutput - o.bytes; room > 0 && o.err == nil {
		_, o.err = o.file.Write(b[:min(int64(len(b)), room)])
	}
	o.bytes += int64(len(b))
	if o.awaited != nil {
		o.look(b)
	}
	return len(b), nil
}

// look looks for the awaited line.
func (o *appOutput) look(b []byte) {
	for o.awaited != nil && len(b) > 0 {
		part, rest, whole := bytes.Cut(b, []byte("\n"))
		if room := maxAppLine - len(o.line); room > 0 {
			o.line = append(o.line, part[:min(len(part), room)]...)
		}
		if o.awaited.Match(o.line) {
			o.awaited, o.line = nil, nil
			close(o.closes)
		}
		if whole {
			o.line = o.line[:0]
		}
		b = rest
	}
}

func (o *appOutput) close(facts *emu.AppFacts) {
	o.mu.Lock()
	defer o.mu.Unlock()
	facts.Bytes, facts.Cut = o.bytes, o.bytes > maxAppOutput
	if err := o.file.Close(); o.err == nil {
		o.err = err
	}
	if o.err != nil && facts.Problem == "" {
		facts.Met, facts.Problem = false, fmt.Sprintf("its output could not be kept: %v", o.err)
	}
}
