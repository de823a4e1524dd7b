// Package scenarios holds the experiments as files: a network, its traffic,
// what runs on it and what is expected of the result, in the paper's own units.
// README.md has what each file repeats and the paper's figures.
//
// Load reads a file strictly. What does not fit is an Error with file, line and
// column: unknown keys, wrong units, impossible topologies, hosts and protocol
// parameters. Experiments turns a Scenario into what an
// engine runs, one for each variant and protocol.
//
// The files in this directory are in the binary too, and schema.json is their
// JSON schema, made from the types here (go test ./scenarios -update).
package scenarios

import (
	"encoding/json"
	"fmt"
	"strconv"

	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// A Scenario is a scenario file. Beside these fields it has one key for each
// protocol whose parameters differ from the defaults, such as sird.
type Scenario struct {
	// Name of the scenario, which names its results.
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]*$"`
	// The part of the paper that the scenario repeats.
	Paper string `yaml:"paper,omitempty" json:"paper,omitempty"`
	// What the scenario shows.
	Description string `yaml:"description,omitempty" json:"description,omitempty"`

	// What runs it unless --engine says otherwise. real (default): namespaces of
	// this machine. virtual: the same in a guest with a virtual clock. model: an
	// event-driven model.
	Engine emu.EngineName `yaml:"engine,omitempty" json:"engine,omitempty"`
	// The fabric.
	Topology topo.Spec `yaml:"topology" json:"topology"`
	// Hosts that are interfaces of this machine, with hardware behind them.
	Hosts []emu.HostSpec `yaml:"hosts,omitempty" json:"hosts,omitempty"`
	// The transport protocol, sird unless given.
	Protocol string `yaml:"protocol,omitempty" json:"protocol,omitempty"`
	// Several transport protocols; each variant runs with each.
	Protocols []string   `yaml:"protocols,omitempty" json:"protocols,omitempty"`
	Params    Parameters `yaml:"-" json:"params,omitempty" jsonschema:"-"`

	// Who sends what to whom, and when.
	Traffic []traffic.Stream `yaml:"traffic,omitempty" json:"traffic,omitempty"`
	// Programs that run in hosts, beside the traffic or instead of it, on the engines
	// real and virtual.
	Apps []emu.App `yaml:"apps,omitempty" json:"apps,omitempty"`
	// Runs that differ in some of the above. Without variants there is one run.
	Variants []Variant `yaml:"variants,omitempty" json:"variants,omitempty"`
	// The grid that sirdbed sweep runs: each variant and protocol at each combination of
	// values. sirdbed run leaves it out.
	Sweep []Axis `yaml:"sweep,omitempty" json:"sweep,omitempty"`

	// Seed of all random draws, 1 unless given.
	Seed uint64 `yaml:"seed,omitempty" json:"seed,omitempty"`
	// Nominal time before the measured window.
	Warmup units.Time `yaml:"warmup,omitempty" json:"warmup,omitempty"`
	// Nominal length of the measured window.
	Duration units.Time `yaml:"duration" json:"duration"`
	// Nominal time after the window for what is still under way.
	Drain units.Time `yaml:"drain,omitempty" json:"drain,omitempty"`

	// How often the fabric and the hosts are looked at.
	Sample Sample `yaml:"sample,omitempty" json:"sample,omitempty"`
	// Bytes that each port holds for each priority before it drops; inf: no drops.
	// Absent it is inf, or 1MB in a scenario with apps.
	QueueLimit units.Bytes `yaml:"queue_limit,omitempty" json:"queue_limit,omitempty"`
	// Nodes (leaf1) and ports (leaf1>h1-2) whose packets are captured to pcapng
	// files, each once.
	Capture []string `yaml:"capture,omitempty" json:"capture,omitempty"`
	// Bytes kept of each captured frame, 128 (all headers) unless given; inf for
	// all.
	SnapLen units.Bytes `yaml:"snap_len,omitempty" json:"snap_len,omitempty"`
	// What goes wrong. Keys and values: loss, duplication, reordering and corruption at the
	// receiving hosts, all the time. A list: what happens to links and hosts, and when.
	Faults Faults `yaml:"faults,omitempty" json:"faults,omitempty"`
	// Factor by which the real and virtual engines stretch time; auto (default)
	// lets the engine choose.
	Dilation Dilation `yaml:"dilation,omitempty" json:"dilation,omitempty"`
	// Guests with one clock that share the fabric on the engine virtual, by racks, each on
	// a processor of its own; auto: as many as processors and racks allow. 1 unless given:
	// their number is part of the result.
	Guests Guests `yaml:"guests,omitempty" json:"guests,omitempty"`

	// What is expected of the results. A bound that is not met makes the run fail
	// with exit code 4.
	Bounds []Bound `yaml:"bounds,omitempty" json:"bounds,omitempty"`

	Set []string `yaml:"-" json:"set,omitempty" jsonschema:"-"` // what --set changed

	src    *source
	fabric *topo.Fabric
	few    *topo.Fabric // on which parameters are tried
}

// A Variant is one run of a scenario. Beside these fields it may have a key for
// each protocol, with parameters that change those of the scenario.
type Variant struct {
	// Name of the variant, which names its results.
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]*$"`
	// What is different about it.
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
	// The streams that it has, by name; all unless given.
	Traffic []string `yaml:"traffic,omitempty" json:"traffic,omitempty"`
	// Load of all its streams that state a load, instead of theirs.
	Load float64 `yaml:"load,omitempty" json:"load,omitempty"`
	// The transport protocol of this variant.
	Protocol string `yaml:"protocol,omitempty" json:"protocol,omitempty"`
	// Instead of the scenario's.
	Faults *Faults `yaml:"faults,omitempty" json:"faults,omitempty"`
	// Instead of the scenario's.
	Warmup *units.Time `yaml:"warmup,omitempty" json:"warmup,omitempty"`
	// Instead of the scenario's.
	Duration *units.Time `yaml:"duration,omitempty" json:"duration,omitempty"`
	// Instead of the scenario's.
	Drain  *units.Time `yaml:"drain,omitempty" json:"drain,omitempty"`
	Params Parameters  `yaml:"-" json:"params,omitempty" jsonschema:"-"`
}

// Parameters are changes to protocols' defaults: by protocol, a JSON object.
type Parameters map[string]json.RawMessage

// Sample is how often queues and gauges are sampled, in nominal time.
type Sample struct {
	// Interval between looks at all switch ports' queues, 10us unless given, or 1ms
	// without traffic.
	Queues units.Time `yaml:"queues,omitempty" json:"queues,omitempty"`
	// Interval between looks at the protocols' gauges (credit, windows), 10us
	// unless given. Without traffic there are none.
	Gauges units.Time `yaml:"gauges,omitempty" json:"gauges,omitempty"`
}

// Dilation is the factor by which nominal time is stretched, 0 to let the
// engine choose ("auto").
type Dilation units.Dilation

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Dilation) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*d = 0
		return nil
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 1 || n > int64(units.MaxDilation) {
		return fmt.Errorf("%q is not a dilation factor: want auto or a whole number from 1 to %d", text,
			units.MaxDilation)
	}
	*d = Dilation(n)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (d Dilation) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d Dilation) String() string {
	if d == 0 {
		return "auto"
	}
	return strconv.FormatInt(int64(d), 10)
}

// Fabric returns the scenario's fabric. It is there once Load has succeeded.
func (s *Scenario) Fabric() *topo.Fabric { return s.fabric }

// File is where the scenario was read from.
func (s *Scenario) File() string { return s.src.file }

// Text is the file as it was read, without Changes.
func (s *Scenario) Text() string { return s.src.text }

// ProgramsQueue is the queue limit of fabrics with programs that state none. A single
// TCP fills any queue that it finds.
const ProgramsQueue units.Bytes = 1_000_000

// QueueForPrograms is the queue limit of the scenario's fabric if programs run there; 0:
// no drops.
func (s *Scenario) QueueForPrograms() units.Bytes {
	if s.QueueLimit == 0 && !s.has("queue_limit") {
		return ProgramsQueue
	}
	return s.QueueLimit
}

// setDefaults fills in what the file leaves out.
func (s *Scenario) setDefaults() {
	if s.Engine == "" {
		s.Engine = emu.Real
	}
	if s.Protocol == "" && len(s.Protocols) == 0 {
		s.Protocol = "sird"
	}
	if len(s.Protocols) == 0 {
		s.Protocols = []string{s.Protocol}
	}
	if s.Seed == 0 {
		s.Seed = 1
	}
	if s.Sample.Queues == 0 && len(s.Traffic) == 0 { // programs live by longer times
		s.Sample.Queues = min(units.Millisecond, max(units.Microsecond, s.Duration))
	}
	if s.Sample.Queues == 0 {
		s.Sample.Queues = 10 * units.Microsecond
	}
	if s.Sample.Gauges == 0 {
		s.Sample.Gauges = 10 * units.Microsecond
	}
	switch s.SnapLen {
	case 0:
		s.SnapLen = 128
	case units.Unlimited:
		s.SnapLen = 0
	}
	for i := range s.Apps {
		if a := &s.Apps[i]; a.Name == "" {
			a.Name = a.DefaultName()
		}
	}
	if len(s.Apps) > 0 {
		s.QueueLimit = s.QueueForPrograms()
	}
	if s.QueueLimit == units.Unlimited {
		s.QueueLimit = 0
	}
}
