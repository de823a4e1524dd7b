package emu

import (
	"encoding/json"
	"slices"

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

	QueueEvery units.Time  `json:"queue_every"` // sampling interval of all switch ports' queues
	GaugeEvery units.Time  `json:"gauge_every"` // sampling interval of the protocol's gauges
	QueueLimit units.Bytes `json:"queue_limit"` // of each port and priority; 0: no drops

	Capture []string     `json:"capture,omitempty"`  // nodes or ports ("leaf1>h1-2") to capture at
	SnapLen int          `json:"snap_len,omitempty"` // bytes kept of each captured frame, 0: all
	Faults  fault.Config `json:"faults"`
	// Timeline is what happens to links and hosts in the course of the run. It and Faults
	// exclude each other.
	Timeline fault.Timeline `json:"timeline,omitempty"`

	// Hosts that are devices of this machine. They stand for themselves: see Device.
	Hosts []HostSpec `json:"hosts,omitempty"`
	Apps  []App      `json:"apps,omitempty"` // programs beside the streams, or in their place
	// Up says that the experiment is a fabric that is kept up for programs.
	Up bool `json:"up,omitempty"`

	// Dilation of the real and virtual engines, 0: chosen by the engine.
	Dilation units.Dilation `json:"dilation,omitempty"`
	// Guests are how many kernels the virtual engine splits the fabric over, 0: one. Their
	// number is part of the result.
	Guests int `json:"guests,omitempty"`
}

// Window returns the measured part of the experiment.
func (e *Experiment) Window() (from, to units.Time) { return e.Warmup, e.Warmup + e.Duration }

// End returns the latest nominal time of the experiment.
func (e *Experiment) End() units.Time { return e.Warmup + e.Duration + e.Drain }

// Serves reports whether programs find the transport in their hosts: where there are
// programs, and packets of the transport's own.
func (e *Experiment) Serves() bool { return (len(e.Apps) > 0 || e.Up) && !KernelTCP(e) }

// CapturedPorts counts the ports whose frames are captured: those named, and those of
// the nodes named.
func (e *Experiment) CapturedPorts(f *topo.Fabric) (ports int) {
	for i := range f.Ports {
		p := &f.Ports[i]
		if slices.Contains(e.Capture, p.Name) || slices.Contains(e.Capture, f.Nodes[p.Node].Name) {
			ports++
		}
	}
	return ports
}
