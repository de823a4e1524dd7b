//go:build linux

package virtual

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"sirdbed/emu/fabric"
	"sirdbed/emu/launch"
	"sirdbed/emu/real"
	"sirdbed/emu/thread"
	"sirdbed/emu/virtual/guest"
	"sirdbed/sirdnode/message/frame"
	"sirdbed/topo"
)

// The controller of a fabric that is kept up in a guest. It carries out orders one by
// one, and waits for more of them: by the guest's clock while programs run, else without
// any time passing.

// A server is such a controller.
type server struct {
	fabric   *fabric.Fabric
	names    string
	launcher *thread.Thread
	done     int // orders
	running  map[int]*exec.Cmd
	ended    chan ended
	console  sync.Mutex
}

// ended is the end of a program.
type ended struct {
	number, code int
	why          string // if it was not its own doing
}

// tickEvery is how long, by the guest's clock, orders may wait while programs run.
const tickEvery = 20 * time.Millisecond

// uptime is how long a guest has been up before programs run there: ping takes a clock
// that is still in its first second for one that it has not read yet.
const uptime = time.Second

// serve brings the fabric up and serves it until the guest is switched off.
func serve(j *job) error {
	engine := &real.Engine{NodeCommand: j.Node, Platform: platform(j.Experiment)}
	err := engine.Up(context.Background(), j.Experiment, func(f *fabric.Fabric, is real.Standing) error {
		s := &server{fabric: f, names: launch.Names(f.Topology()), launcher: thread.New(),
			running: map[int]*exec.Cmd{}, ended: make(chan ended, 16)}
		defer s.launcher.Close()
		time.Sleep(uptime)
		fmt.Printf("%s%d\n", upMark, is.Dilation)
		return s.serve()
	})
	if err != nil {
		fmt.Printf("%s%q\n", failedMark, err.Error())
	}
	return nil
}

func (s *server) serve() error {
	for {
		command, ok, err := guest.NextCommand(s.done)
		if err != nil {
			return err
		}
		if ok {
			s.done++
			if err := s.obey(&command); err != nil {
				return err
			}
			continue
		}
		if len(s.running) == 0 {
			if err := guest.AwaitCommand(s.done); err != nil {
				return err
			}
			continue
		}
		select {
		case e := <-s.ended:
			delete(s.running, e.number)
			s.write(fmt.Sprintf("%s%d %d %q", exitMark, e.number, e.code, e.why))
		case <-time.After(tickEvery):
			s.write(tickMark)
		}
	}
}

// write writes a line to the console, whole.
func (s *server) write(line string) {
	s.console.Lock()
	defer s.console.Unlock()
	_, _ = os.Stdout.WriteString(line + "\n")
}

// obey carries an order out. What keeps a program from being started is its own end.
func (s *server) obey(c *guest.Command) error {
	var o Order
	if err := json.Unmarshal(c.Text, &o); err != nil {
		return err
	}
	if o.Signal != 0 {
		if cmd := s.running[o.Program]; cmd != nil {
			_ = syscall.Kill(-cmd.Process.Pid, o.Signal) // it may have ended
		}
		return nil
	}
	if err := s.start(c, &o); err != nil {
		s.write(fmt.Sprintf("%s%d %d %q", exitMark, c.Number, 126, err.Error()))
	}
	return nil
}

func (s *server) start(c *guest.Command, o *Order) error {
	node, ok := s.fabric.Topology().Node(o.Node)
	if !ok {
		return fmt.Errorf("no node is called %s", o.Node)
	}
	input, err := os.Open(c.Input)
	if err != nil {
		return err
	}
	defer input.Close()
	start := launch.Start{Argv: o.Argv, Names: s.names}
	file, err := start.File()
	if err != nil {
		return err
	}
	defer file.Close()
	cmd := exec.Command("/proc/self/exe", launch.Argument)
	cmd.Env = append(append(append([]string(nil), programEnvironment...), o.Env...),
		guest.SpinVar+"="+strconv.Itoa(c.Number), "SIRDBED_HOST="+o.Node,
		frame.AddressVar+"="+frame.Address)
	if info, err := os.Stat(o.Dir); err == nil && info.IsDir() {
		cmd.Dir = o.Dir
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.ExtraFiles = []*os.File{file} // launch.StartFD
	cmd.Stdin, cmd.Stdout, cmd.Stderr = input, s.printer(c.Number, 1), s.printer(c.Number, 2)
	cmd.WaitDelay = time.Second // for what it leaves in the background with its output
	namespace := s.fabric.NamespaceFD(topo.NodeID(node.ID))
	if err := s.launcher.Do(func() error { return fabric.Within(namespace, cmd.Start) }); err != nil {
		return fmt.Errorf("starting %s: %w", o.Argv[0], err)
	}
	s.running[c.Number] = cmd
	go func() {
		err := cmd.Wait()
		e := ended{number: c.Number, code: cmd.ProcessState.ExitCode()}
		status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if ok && status.Signaled() {
			e.code = 128 + int(status.Signal())
			e.why = status.Signal().String()
		} else if _, exit := errors.AsType[*exec.ExitError](err); !exit && err != nil && err != exec.ErrWaitDelay {
			e.why = err.Error()
		}
		s.ended <- e
	}()
	return nil
}

// A printer passes on what a program prints.
type printer struct {
	s              *server
	number, stream int
}

func (s *server) printer(number, stream int) io.Writer { return &printer{s, number, stream} }

// maxPrinted is how much goes into a line of the console, which has 4096 characters.
const maxPrinted = 2048

// Write implements io.Writer.
func (p *printer) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		part := rest[:min(len(rest), maxPrinted)]
		rest = rest[len(part):]
		p.s.write(fmt.Sprintf("%s%d %d %s", outMark, p.number, p.stream, base64.StdEncoding.EncodeToString(part)))
	}
	return len(b), nil
}
