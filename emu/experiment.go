package emu

import (
	"context"
	"encoding/json"

	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// An Experiment is one run of one variant of a scenario, in nominal units. It
// is plain data: engines send it to host processes as JSON.
type Experiment struct {
	Scenario string           `json:"scenario"`
	Variant  string           `json:"variant"`
	Topology topo.Spec        `json:"topology"`
	Protocol string           `json:"protocol"`
	Params   json.RawMessage  `json:"params,omitempty"` // changes to the protocol's defaults
	Streams  []traffic.Stream `json:"streams"`
	Seed     uint64           `json:"seed"`

	// Messages arrive from 0 until Warmup+Duration. What happens from Warmup on
	// is measured. Then up to Drain is given to what is still under way.
	Warmup   units.Time `json:"warmup"`
	Duration units.Time `json:"duration"`
	Drain    units.Time `json:"drain"`

	QueueEvery units.Time  `json:"queue_every"` // sampling interval of all ports' queues
	GaugeEvery units.Time  `json:"gauge_every"` // sampling interval of the protocol's gauges
	QueueLimit units.Bytes `json:"queue_limit"` // of each port and priority; 0: no drops

	Capture []string     `json:"capture,omitempty"`  // nodes or ports ("leaf1>h1-2") to capture at
	SnapLen int          `json:"snap_len,omitempty"` // bytes kept of each captured frame, 0: all
	Faults  fault.Config `json:"faults"`

	// Dilation of the real and virtual engines, 0: chosen by the engine.
	Dilation units.Dilation `json:"dilation,omitempty"`
}

// Window returns the measured part of the experiment.
func (e *Experiment) Window() (from, to units.Time) { return e.Warmup, e.Warmup + e.Duration }

// End returns the latest nominal time of the experiment.
func (e *Experiment) End() units.Time { return e.Warmup + e.Duration + e.Drain }

// An Engine runs experiments.
type Engine interface {
	Name() string
	// Run runs x and leaves raw logs in dir, which exists and is empty:
	//
	//	experiment.json    x
	//	facts.json         Facts, written last (and when the run failed)
	//	hosts/NAME.rec     a record log for each host
	//	queues.rec         a record log of queue samples (and ticks)
	//	captures/NODE.pcapng
	//
	// When ctx ends Run stops early, keeps what was measured and returns ctx's
	// error. Any other error is the run's failure; then too the logs stay.
	Run(ctx context.Context, x *Experiment, dir string, hooks Hooks) (*Facts, error)
}

// Hooks are what an engine is lent by those below it in the import order.
type Hooks struct {
	// Progress, when set, is called now and then, from any goroutine, with the
	// nominal time reached.
	Progress func(units.Time)
	// OpenCapture, when set, begins the capture file of one node. Without it
	// nothing is captured.
	OpenCapture func(path string, node *topo.Node) (Capture, error)
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
