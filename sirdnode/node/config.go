//go:build linux

package node

import (
	"encoding/json"

	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/host"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Config is what the controller sends a host process first, as one line of JSON.
type Config struct {
	Self     topo.HostID      `json:"self"`
	Topology topo.Spec        `json:"topology"`
	Loop     topo.Loop        `json:"loop,omitzero"` // as hosts have measured it
	Protocol string           `json:"protocol"`
	Params   json.RawMessage  `json:"params,omitempty"`
	Streams  []traffic.Stream `json:"streams"`
	Seed     uint64           `json:"seed"`
	Faults   fault.Config     `json:"faults"`
	Timeline fault.Timeline   `json:"timeline,omitempty"` // of the whole fabric

	From       units.Time `json:"from"` // of the measured window
	To         units.Time `json:"to"`
	End        units.Time `json:"end"` // when to stop in any case
	GaugeEvery units.Time `json:"gauge_every"`
	// CatchUp is how much of a late wake-up is made good: what was due in the
	// meantime happens as of its own time, up to so long ago.
	CatchUp units.Time `json:"catch_up"`
	// Stall is the longest lateness of a wake-up that is no stall.
	Stall units.Time `json:"stall"`
	// Grain is what the machine's timers resolve: a frame that is due within it is
	// delivered at once, since a timer would make it later than that. 0: none is.
	Grain units.Time `json:"grain,omitempty"`
	// Policy is how the kernel schedules the host.
	Policy clock.Policy `json:"policy,omitempty"`
	// Apart is how far apart the host keeps wake-ups that come close together, in
	// monotonic ns; 0: it does not.
	Apart int64 `json:"apart,omitempty"`

	// Spin is what going to sleep and waking up take, in monotonic ns: the host stays
	// awake for what is due sooner.
	Spin int64 `json:"spin,omitempty"`

	// Unlogged is set where nothing is measured: the host's log stays empty.
	Unlogged bool `json:"unlogged,omitempty"`
	// Programs is the address at which programs of the host find its transport, "@" and a
	// name of the network namespace or a path; "": none do.
	Programs string `json:"programs,omitempty"`

	Interface string         `json:"interface"`
	Cable     *Cable         `json:"cable,omitempty"` // nil: the links are the fabric's
	RxFrames  int            `json:"rx_frames"`       // of the receive ring, see StallFrames
	Dilation  units.Dilation `json:"dilation"`
	// DelayFrames is set where the links do not delay packets: the host delays each
	// by its path's propagation and serialization, and then it has arrived.
	DelayFrames bool `json:"delay_frames"`
}

// A Cable is what leads to the leaf where a host is at the other end of a device's: the
// addresses of both ends, in place of those of the address plan.
type Cable struct {
	Own  topo.MAC `json:"own"`
	Leaf topo.MAC `json:"leaf"`
}

// The controller sends a host process lines: its config, commands in this order.
// The process answers each time with Status in JSON.
const (
	// CommandCalibrate comes, if at all, before the config, with a Calibration in JSON:
	// the process measures credit loops, and reports them.
	CommandCalibrate = "calibrate"
	// CommandGo comes with the CLOCK_MONOTONIC in ns at which nominal time is 0,
	// once the process is ready.
	CommandGo = "go"
	// CommandDrain has it send nothing more, but take what still arrives, so that
	// in the end every packet is accounted for. At the run's end it does so by
	// itself.
	CommandDrain = "drain"
	// CommandStop has it report, and end.
	CommandStop = "stop"
)

// The states of a host process.
const (
	StateCalibrated = "calibrated" // Loops has how long credit loops took
	StateReady      = "ready"      // configured, waiting for "go"
	StateDone       = "done"       // its own messages are settled, or the end has come; it serves others
	StateBusy       = "busy"       // not done after all: others had something for it
	StateFinished   = "finished"   // stopped in good order; Report has its totals
	StateFailed     = "failed"     // Error has the reason
)

// Status is a host process's line to the controller.
type Status struct {
	State  string  `json:"state"`
	Error  string  `json:"error,omitempty"`
	Report *Report `json:"report,omitempty"`
	// Loops is how long credit loops took, in nominal ns.
	Loops *clock.Lateness `json:"loops,omitempty"`
}

// Report is the totals of a host process.
type Report struct {
	Counts    host.Counts    `json:"counts"`
	NIC       NICCounts      `json:"nic"`
	Faults    fault.Counters `json:"faults"`
	Lateness  clock.Lateness `json:"lateness"`  // of what was due, in nominal ns
	Generator clock.Lateness `json:"generator"` // of messages from the application, in nominal ns
	// Stalled is the time of the window that the loop lost by waking up later than
	// Config.Stall, and LongestStall the most at once; both nominal.
	Stalled      units.Time `json:"stalled"`
	LongestStall units.Time `json:"longest_stall"`
	CPU          float64    `json:"cpu"` // share of a processor that the loop used
	Reached      units.Time `json:"reached"`
	// Kernel is set where NIC counts segments of the kernel's protocol, by the
	// kernel's own counters, and there is no receive ring.
	Kernel bool `json:"kernel,omitempty"`
}
