//go:build linux

package virtual

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"sirdbed/emu"
	"sirdbed/emu/virtual/guest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A fabric that is kept up in a guest: its clock stands still while no program runs.

// An Order is what the guest of a fabric that is up is told: to run a program, or to
// send a signal to one.
type Order struct {
	Node string   `json:"node"`
	Argv []string `json:"argv"`
	Env  []string `json:"env"` // beside programEnvironment, which it overrides
	Dir  string   `json:"dir"`

	Signal  syscall.Signal `json:"signal,omitempty"` // if set, to the program of number Program, and nothing else
	Program int            `json:"program,omitempty"`
}

// An Event is what a program in such a guest has done: it printed, or it has ended.
type Event struct {
	Stream int    // 1: standard output, 2: standard error, 0: it has ended
	Text   []byte // that it printed, or why it was ended, if that was not its own doing
	Exit   int
}

// The lines of such a guest.
const (
	upMark   = "#up "   // and the dilation
	tickMark = "#tick"  // programs run, and time passes
	outMark  = "#out "  // number, stream and text of what a program printed
	exitMark = "#exit " // number and exit code of a program, and a reason
)

// A Standing is a fabric that is up in a guest. Its methods are safe for concurrent use.
type Standing struct {
	Dilation units.Dilation
	commands *guest.Commands

	mu       sync.Mutex
	programs map[int]func(Event)
	names    map[int]string
	failure  string
}

// Up builds the fabric of an experiment in a guest, calls up, and keeps it up until ctx
// ends or the guest dies.
func (e *Engine) Up(ctx context.Context, x *emu.Experiment, up func(*Standing) error) error {
	topology, err := topo.New(x.Topology)
	if err != nil {
		return err
	}
	inner := *x
	inner.Dilation = cmp.Or(x.Dilation, emu.KernelTCPDilation(topology))
	if inner.Dilation > emu.MaxKernelTCPDilation {
		return fmt.Errorf("a fabric for programs takes a dilation of 1 to %d, or auto, not %d: the kernel's timers "+
			"would be %d times too short", emu.MaxKernelTCPDilation, inner.Dilation, inner.Dilation)
	}
	size := e.Memory
	if size == 0 {
		size = upMemory(topology, x)
	}
	if err := guest.CheckRoom(size); err != nil {
		return &noRoomError{fmt.Errorf("a guest for %d hosts and programs takes up to %d MB of memory: %w",
			len(topology.Hosts), size>>20, err)}
	}
	text, err := json.Marshal(&job{Experiment: &inner, Node: e.NodeCommand, Up: true})
	if err != nil {
		return err
	}
	s := &Standing{commands: &guest.Commands{}, programs: map[int]func(Event){}, names: map[int]string{}}
	running, kill := context.WithCancel(ctx)
	defer kill()
	ready := make(chan units.Dilation, 1)
	called := make(chan error, 1)
	go func() {
		select {
		case s.Dilation = <-ready:
			err := up(s)
			if err != nil {
				kill()
			}
			called <- err
		case <-running.Done():
			called <- nil
		}
	}()
	exit, err := guest.Run(running, guest.Config{
		Kernel: e.Kernel, KernelName: e.KernelName,
		Argv: append(append([]string(nil), e.Command...), "/"), Env: environment(), Show: []string{"/"},
		Memory: size, Input: text, Started: e.Started,
		Commands: s.commands, SpinLimit: e.spinLimit(), Spun: s.spin,
		Line: func(line string) { s.line(line, ready) },
	})
	kill()
	s.abandon()
	if e := <-called; e != nil {
		return e
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return nil
	case s.failure != "":
		return errors.New(s.failure)
	case err == nil:
		return fmt.Errorf("the controller in the guest ended with exit code %d", exit)
	}
	return err
}

// Run starts a program with an input, and has tell called with what it does, from another
// goroutine, until it has ended. It returns the program's number.
func (s *Standing) Run(o Order, input []byte, tell func(Event)) (number int, err error) {
	text, err := json.Marshal(o)
	if err != nil {
		return 0, err
	}
	s.mu.Lock() // what the guest writes of the program waits
	defer s.mu.Unlock()
	if number, err = s.commands.Issue(text, input); err != nil {
		return 0, err
	}
	s.names[number] = o.Node + "\x00" + strings.Join(o.Argv, " ")
	s.programs[number] = tell
	return number, nil
}

// Signal sends a signal to a program. One that has ended ignores it.
func (s *Standing) Signal(number int, signal syscall.Signal) error {
	text, err := json.Marshal(Order{Signal: signal, Program: number})
	if err == nil {
		_, err = s.commands.Issue(text, nil)
	}
	return err
}

// Programs lists those that run: number, node and command line.
func (s *Standing) Programs(each func(number int, node, command string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for number := range s.programs {
		node, command, _ := strings.Cut(s.names[number], "\x00")
		each(number, node, command)
	}
}

// line takes a line of the guest's console.
func (s *Standing) line(text string, ready chan<- units.Dilation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok := strings.CutPrefix(text, upMark); ok {
		n, _ := strconv.ParseInt(d, 10, 64)
		ready <- units.Dilation(n)
		return
	}
	if quoted, ok := strings.CutPrefix(text, failedMark); ok {
		s.failure, _ = strconv.Unquote(quoted)
		return
	}
	if rest, ok := strings.CutPrefix(text, outMark); ok {
		f := strings.Fields(rest)
		if len(f) != 3 {
			return
		}
		number, _ := strconv.Atoi(f[0])
		stream, _ := strconv.Atoi(f[1])
		printed, err := base64.StdEncoding.DecodeString(f[2])
		if err == nil {
			s.tell(number, Event{Stream: stream, Text: printed})
		}
		return
	}
	if rest, ok := strings.CutPrefix(text, exitMark); ok {
		var number, code int
		var why string
		if n, _ := fmt.Sscanf(rest, "%d %d %q", &number, &code, &why); n == 3 {
			s.tell(number, Event{Text: []byte(why), Exit: code})
		}
	}
}

// tell passes an event on.
func (s *Standing) tell(number int, event Event) {
	tell, ok := s.programs[number]
	if !ok {
		return
	}
	tell(event)
	if event.Stream == 0 {
		delete(s.programs, number)
		delete(s.names, number)
	}
}

// spin takes the name of a program that spun. Its end comes as that of others.
func (s *Standing) spin(name, file string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number, err := strconv.Atoi(name)
	if err != nil || s.programs[number] == nil {
		return
	}
	s.programs[number](Event{Stream: 2, Text: fmt.Appendf(nil, "sirdbed: %s spun: it computed, or asked for the time, "+
		"again and again, while the guest's clock stood still, and was ended\n", file)})
}

// abandon ends all programs for those who wait for them: the guest is gone.
func (s *Standing) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for number := range s.programs {
		s.tell(number, Event{Text: []byte("the fabric is down"), Exit: 128 + int(syscall.SIGKILL)})
	}
}
