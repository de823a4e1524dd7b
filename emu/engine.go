package emu

import (
	"context"
	"io"
	"os"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// An EngineName is how scenarios, results and the command line call an engine.
type EngineName string

// The engines.
const (
	Real    EngineName = "real"    // namespaces of this machine, by a stretched wall clock
	Virtual EngineName = "virtual" // the same in a guest whose clock is virtual
	Model   EngineName = "model"   // an event-driven model
)

// EngineNames lists the engines in the order in which they are shown.
var EngineNames = []EngineName{Real, Virtual, Model}

// An Engine runs experiments. Its methods may be called from any goroutine; runs
// do not overlap.
type Engine interface {
	Name() EngineName
	// Check finds out, before anything is built, what keeps the engine from
	// running x: an error that matches ErrUnsuited for a protocol that it cannot
	// run, ErrNotSupported for what this machine lacks, and others for an
	// experiment that is malformed.
	Check(x *Experiment) error
	// Run runs x and leaves raw logs in dir, which is empty.
	//
	// When ctx ends Run stops early, keeps what was measured and returns ctx's
	// error. Any other error is the run's failure; then too the logs stay.
	Run(ctx context.Context, x *Experiment, dir RunDir, hooks Hooks) (*Facts, error)
}

// Hooks are what an engine is lent by those below it in the import order.
type Hooks struct {
	// Progress, when set, is called now and then, from any goroutine, with the
	// nominal time reached.
	Progress func(units.Time)
	// Check, when set, is called from the goroutine of Run at moments that the experiment
	// alone determines, when the logs have all that has happened; an error ends the run. It
	// is of the model alone.
	Check func() error
	// OpenCapture, when set, begins the capture of one node in a file, which it
	// closes on failure. Without it nothing is captured.
	OpenCapture func(file *os.File, node *topo.Node) (Capture, error)
	// CreateLog, when set, begins a log of hosts or queues, by its name in a RunDir, in
	// place of a file there. It is of the model alone: other engines' hosts write files.
	CreateLog func(name string) (io.WriteCloser, error)
}

// A Capture takes the frames that one node sends and receives. It is for one
// goroutine.
type Capture interface {
	// Packet takes a frame seen at nominal time at on one of the node's ports:
	// out when it left through it, in when it came from its other end. wire is
	// the frame's whole length, frame what is kept of it, valid during the call.
	Packet(port *topo.Port, at units.Time, out bool, wire int, frame []byte) error
	Close() error
}
