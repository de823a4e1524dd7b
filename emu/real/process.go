//go:build linux

package real

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"sirdbed/sirdnode/node"
	"sirdbed/topo"
)

// A hostProcess is the process of one host, started in its namespace, or at a peer that has
// joined.
type hostProcess struct {
	host   topo.HostID
	name   string
	cmd    *exec.Cmd // nil: at a peer
	joined *joined   // nil: in a namespace
	wait   func() error
	kill   func() error
	stdin  io.WriteCloser
	status chan node.Status // closed when the process has ended
	ended  chan struct{}    // closed then too
	stdout io.Reader
	stderr tail
	report *node.Report // nil until it has finished
	err    error        // how it ended; after ended
	failed error        // why the run lost it, where that is known
}

// newHostProcess prepares the process of a host. argv is the program and the
// arguments that make it a host, env is added to its environment; log becomes its
// record log.
func newHostProcess(argv, env []string, host topo.HostID, name string, log *os.File) (*hostProcess, error) {
	p := &hostProcess{host: host, name: name, status: make(chan node.Status, 4), ended: make(chan struct{})}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env = slices.Concat(os.Environ(), node.Environment, env)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	p.cmd.ExtraFiles = []*os.File{log}
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.stdout = stdout
	p.wait = p.cmd.Wait
	p.kill = func() error { return p.cmd.Process.Kill() }
	p.stdin, err = p.cmd.StdinPipe()
	return p, err
}

// start starts the process. inside calls what it is given in the host's
// namespace.
func (p *hostProcess) start(inside func(func() error) error) error {
	if err := inside(p.cmd.Start); err != nil {
		return fmt.Errorf("starting the process of %s: %w", p.name, err)
	}
	go p.read()
	return nil
}

// read passes on what the process reports and waits for its end.
func (p *hostProcess) read() {
	lines := json.NewDecoder(bufio.NewReader(p.stdout))
	for {
		var s node.Status
		if lines.Decode(&s) != nil {
			break
		}
		p.status <- s
	}
	p.err = p.wait()
	close(p.status)
	close(p.ended)
}

// send writes a line to the process.
func (p *hostProcess) send(line string) error {
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

// failure is what the process itself reported before it ended.
func (p *hostProcess) failure(s node.Status) error {
	return fmt.Errorf("host %s failed: %s", p.name, s.Error)
}

// death describes how the process ended, with its standard error.
func (p *hostProcess) death() error {
	<-p.ended
	how := "ended"
	if p.err != nil {
		how = p.err.Error()
	}
	if w := p.stderr.String(); w != "" {
		return fmt.Errorf("the process of host %s (%s) died: %s; its standard error:\n%s", p.name, p.where(), how, w)
	}
	return fmt.Errorf("the process of host %s (%s) died: %s, with nothing on its standard error", p.name, p.where(),
		how)
}

// where says where the process is, or was.
func (p *hostProcess) where() string {
	if p.joined != nil {
		return p.joined.peer.String()
	}
	return fmt.Sprintf("pid %d", p.cmd.Process.Pid)
}

// begin tells the process at which monotonic time of this machine it is to begin.
func (p *hostProcess) begin(origin int64) error {
	if p.joined != nil {
		origin += p.joined.offset.Ahead
	}
	return p.send(fmt.Sprintf("%s %d", node.CommandGo, origin))
}

// stop has the process finish, and kills it if it does not within grace.
func (p *hostProcess) stop(grace time.Duration) {
	p.stdin.Close()
	select {
	case <-p.ended:
	case <-time.After(grace):
		_ = p.kill() // it may have ended
		<-p.ended
	}
}
