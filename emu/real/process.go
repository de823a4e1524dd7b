package real

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"sirdbed/emu/fabric"
	"sirdbed/sirdnode/node"
	"sirdbed/topo"
)

// A hostProcess is the process of one host, started in its namespace.
type hostProcess struct {
	host   topo.HostID
	name   string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	status chan node.Status // closed when the process has ended
	ended  chan struct{}    // closed then too
	words  lastWords
	report *node.Report // nil until it has finished
	err    error        // how it ended; after ended
	failed error        // why the run lost it, where that is known
}

// A launcher starts host processes from one thread that lives as long as it
// does: the kernel kills them when that thread is gone.
type launcher struct {
	work chan func()
	once sync.Once
}

func newLauncher() *launcher {
	l := &launcher{work: make(chan func())}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		for f := range l.work {
			f()
		}
	}()
	return l
}

// close ends the thread, and with it every process it started that still runs.
func (l *launcher) close() { l.once.Do(func() { close(l.work) }) }

// do runs f on the launcher's thread.
func (l *launcher) do(f func() error) error {
	done := make(chan error)
	l.work <- func() { done <- f() }
	return <-done
}

// start starts a host process inside the namespace ns. argv is the program and
// the arguments that make it a host, env is added to its environment; log becomes
// its record log.
func (l *launcher) start(argv, env []string, ns int, host topo.HostID, name string, log *os.File) (*hostProcess, error) {
	p := &hostProcess{host: host, name: name, status: make(chan node.Status, 4), ended: make(chan struct{})}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env = append(append(os.Environ(), "GOMAXPROCS=1", "GOGC=400"), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	p.cmd.ExtraFiles = []*os.File{log}
	p.cmd.Stderr = &p.words
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	err = l.do(func() error { return fabric.Within(ns, p.cmd.Start) })
	if err != nil {
		return nil, fmt.Errorf("starting the process of %s: %w", name, err)
	}
	go p.read(stdout)
	return p, nil
}

// read passes on what the process says and waits for its end.
func (p *hostProcess) read(stdout io.Reader) {
	lines := json.NewDecoder(bufio.NewReader(stdout))
	for {
		var s node.Status
		if lines.Decode(&s) != nil {
			break
		}
		p.status <- s
	}
	p.err = p.cmd.Wait()
	close(p.status)
	close(p.ended)
}

// say writes a line to the process.
func (p *hostProcess) say(line string) error {
	_, err := io.WriteString(p.stdin, line+"\n")
	return err
}

// await returns the next status, which must be of the given state.
func (p *hostProcess) await(ctx context.Context, state string) (node.Status, error) {
	for {
		select {
		case <-ctx.Done():
			return node.Status{}, ctx.Err()
		case s, ok := <-p.status:
			switch {
			case !ok:
				return s, p.death()
			case s.State == node.StateFailed:
				return s, p.failure(s)
			case s.State == state:
				return s, nil
			}
		}
	}
}

// failure is what the process itself said before it ended.
func (p *hostProcess) failure(s node.Status) error {
	return fmt.Errorf("host %s failed: %s", p.name, s.Error)
}

// death describes how the process ended, with its last words.
func (p *hostProcess) death() error {
	<-p.ended
	how := "ended"
	if p.err != nil {
		how = p.err.Error()
	}
	if w := p.words.String(); w != "" {
		return fmt.Errorf("the process of host %s (pid %d) died: %s; its last words:\n%s", p.name, p.cmd.Process.Pid, how, w)
	}
	return fmt.Errorf("the process of host %s (pid %d) died: %s, without a word", p.name, p.cmd.Process.Pid, how)
}

// stop has the process finish, and kills it if it does not within grace.
func (p *hostProcess) stop(grace time.Duration) {
	p.stdin.Close()
	select {
	case <-p.ended:
	case <-time.After(grace):
		p.cmd.Process.Kill()
		<-p.ended
	}
}

// lastWords keeps what a process writes: of much, the beginning, where a Go
// program that panics says why, and the end.
type lastWords struct {
	mu        sync.Mutex
	head, end []byte
	left      int // bytes left out between them
}

const keptWords = 4 << 10 // of each: a traceback of some ten frames

func (w *lastWords) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(b), keptWords-len(w.head))
	w.head = append(w.head, b[:n]...)
	w.end = append(w.end, b[n:]...)
	if over := len(w.end) - keptWords; over > 0 {
		w.end = append(w.end[:0], w.end[over:]...)
		w.left += over
	}
	return len(b), nil
}

func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	gap := ""
	if w.left > 0 {
		gap = fmt.Sprintf("\n... (%d bytes)\n", w.left)
	}
	return strings.TrimSpace(string(w.head) + gap + string(w.end))
}
