package emu

import (
	"time"

	"sirdbed/topo/units"
)

// Facts are what an engine reports of a run besides its logs: what it ran on
// and with, and what the fidelity verdict is judged by.
type Facts struct {
	Engine   EngineName     `json:"engine"`
	Started  time.Time      `json:"started"`
	Wall     float64        `json:"wall_seconds"`
	Startup  float64        `json:"startup_seconds"` // of these, until all hosts were ready to go
	Dilation units.Dilation `json:"dilation"`        // 1 for the model
	Kernel   string         `json:"kernel,omitempty"`
	CPUs     int            `json:"cpus"`
	Features Features       `json:"features,omitzero"`

	Reached units.Time `json:"reached"`            // nominal time at which the run ended
	PortsAt units.Time `json:"ports_at,omitempty"` // when the ports were read at the run's end, 0 if they were not
	Failure string     `json:"failure,omitempty"`  // why it ended early, with the standard error of what failed

	Hosts []HostFacts `json:"hosts"`
	Ports []PortFacts `json:"ports"`

	// The intervals at which gauges were read and queues sampled, which are longer
	// than those asked for where the machine's clock would not bear them.
	GaugeEvery units.Time `json:"gauge_every,omitempty"`
	QueueEvery units.Time `json:"queue_every,omitempty"`

	// Scheduling is what was done about late wake-ups of hosts: "real-time" or "short
	// slices"; "" for nothing.
	Scheduling string `json:"scheduling,omitempty"`
	// RealTime is set for runs in real time, nil for others.
	RealTime *RealTime `json:"real_time,omitempty"`
	// Loop is the credit loop as hosts found it, nil where they did not look.
	Loop *LoopFacts `json:"loop,omitempty"`

	Apps []AppFacts `json:"apps,omitempty"`
	// KernelPackets are those of programs, and of whatever else the nodes' kernels send.
	// nil: not counted, since there were no programs.
	KernelPackets *KernelPackets `json:"kernel_packets,omitempty"`
	// UndelayedPrograms is the longest delay of a link, by the kernel's clock, that the
	// packets of programs and of kernel TCP did not have, since the links do not delay
	// them and hosts cannot; 0: they had all delays, or there were no such packets.
	UndelayedPrograms KernelTime `json:"undelayed_programs,omitempty"`

	// Measured by engines that run on a clock; zero for the model.
	Lateness       Lateness `json:"lateness"`
	ThreadCPU      float64  `json:"busiest_host_cpu"` // share of wall time that the busiest host's loop used, 0 to 1
	Steal          float64  `json:"steal"`            // share of the machine's CPU time taken by others
	SoftnetDrops   int64    `json:"softnet_drops"`    // packets that the kernel's backlog dropped
	CaptureDrops   int64    `json:"capture_drops"`    // packets that captures missed
	LinkDrops      int64    `json:"link_drops"`       // packets that interfaces dropped outside their ports
	SampleLateness Lateness `json:"sample_lateness"`  // of queue sampling
	// FaultLateness is how late the engine changed the fabric by the timeline of faults. What
	// hosts do themselves is as of its time.
	FaultLateness Lateness `json:"fault_lateness,omitzero"`
	// FewMessages is the lateness of messages from hosts that had fewer than
	// FewMessages each, all together; the latest of them counts for its Max alone.
	FewMessages Lateness `json:"few_messages,omitzero"`
	// SampleStalls are the gaps between samples of the queues: times without one of more
	// than four intervals, and of a thousandth of the window. nil: not measured.
	SampleStalls *Stalls `json:"sample_stalls,omitempty"`
	// Live is what it took to look at the run while it went on. nil: nobody did.
	Live *LiveFacts `json:"live,omitempty"`
	// Cables are those of the hosts that are devices.
	Cables []CableFacts `json:"cables,omitempty"`
}

// FewMessages is how many messages of a host are too few for a 99th percentile of their
// own, which would be the latest of them.
const FewMessages = 100

// CableFacts are of the cable of a host that is a device.
type CableFacts struct {
	Host   string `json:"host"`
	Device string `json:"device"`
	Losses int64  `json:"losses"`         // of its carrier, during the run
	Gone   bool   `json:"gone,omitempty"` // the device itself was not there any more
}

// LiveFacts are what the process took that read the logs of a run for its live view,
// served the page and drew in the terminal.
type LiveFacts struct {
	CPU   float64 `json:"cpu_seconds"` // of processors
	Reads int64   `json:"reads"`       // of logs
	Bytes int64   `json:"bytes"`       // read
	// Lost says that the process ended before the run did, so that the rest is not known.
	Lost bool `json:"lost,omitempty"`
}

// RealTime is what a run at dilation 1 on a machine's own clock rests on, as measured
// before it.
type RealTime struct {
	// Late wake-ups of as many threads as there are hosts: percentiles.
	Median units.Time `json:"late_median"`
	P90    units.Time `json:"late_p90"`
	P99    units.Time `json:"late_p99"`
	P999   units.Time `json:"late_p99_9"`
	// MadeGood is what hosts and ports make good of a late wake-up: later ones cost rate.
	MadeGood units.Time `json:"made_good"`
	// Grain is how much sooner than it was due a frame may have been delivered.
	Grain units.Time `json:"grain"`
	// Apart is how far apart hosts kept wake-ups that came close together.
	Apart units.Time `json:"apart"`
}

// LoopFacts are a credit loop as computed from the links, and as the hosts measured it
// before the run, in nominal time: 90th and 99.9th percentile.
type LoopFacts struct {
	Computed units.Time `json:"computed"`
	Usual    units.Time `json:"usual"`
	Tail     units.Time `json:"tail"`
	// The BDP that follows from either; that of the measured loop has a limit.
	ComputedBDP units.Bytes `json:"computed_bdp"`
	MeasuredBDP units.Bytes `json:"measured_bdp"`
	// Window is what the protocol has on its way to a receiver at most, as this run's
	// parameters are; 0 for one that adapts it.
	Window units.Bytes `json:"window,omitempty"`
}

// Stalls are the time of the window in which something stood still and should not
// have, in nominal time.
type Stalls struct {
	Total   units.Time `json:"total"`
	Longest units.Time `json:"longest"`
}

// Lateness is how long after the time asked for a loop woke up, in nominal
// time.
type Lateness struct {
	Count  int64      `json:"count"`
	Median units.Time `json:"median"`
	P99    units.Time `json:"p99"`
	P999   units.Time `json:"p99_9"`
	Max    units.Time `json:"max"`
}

// HostFacts are the totals of one host's network interface and loop.
type HostFacts struct {
	Name      string   `json:"name"`
	Sent      int64    `json:"sent"`     // packets handed to the network
	Received  int64    `json:"received"` // packets taken from it, before the fault shim
	Corrupt   int64    `json:"corrupt"`  // refused by their checksum
	Flipped   int64    `json:"flipped"`  // damaged by the fault shim, for the checksum to find; 0 for the model
	Foreign   int64    `json:"foreign"`  // not of the run's protocol, or not for this host
	RingDrops int64    `json:"ring_drops"`
	Faults    int64    `json:"faults"`    // packets that the fault shim dropped, or a host that was killed or paused
	Extra     int64    `json:"extra"`     // packets that the fault shim made
	Lateness  Lateness `json:"lateness"`  // of the host's loop
	Generator Lateness `json:"generator"` // of messages handed to the transport, after their nominal arrivals
	Finished  bool     `json:"finished"`  // ended in good order
	// Stalls are those of the host's loop: from when a packet, a message or a timer was
	// due, more than a full packet's time ago (in real time: longer than what is made
	// good), until it woke up. nil: not measured.
	Stalls *Stalls `json:"stalls,omitempty"`
	// Joined is set for a device host whose peer has joined the run, nil for others.
	Joined *JoinedFacts `json:"joined,omitempty"`
	// Kernel is set where Sent, Received and Corrupt are segments of the kernel's
	// TCP, by the kernel's counters. Such a host has no receive ring.
	Kernel bool `json:"kernel,omitempty"`
}

// JoinedFacts are a peer at the other end of a device's cable. What its log has was timed by
// its own clock, which the run set by exchanges over another connection.
type JoinedFacts struct {
	Address   string `json:"address"`   // from which it joined
	Interface string `json:"interface"` // of its machine
	// ClockError is what its times may be off by: half of the fastest exchange's round trip,
	// before the run and after it, and ClockDrift.
	ClockError units.Time `json:"clock_error"`
	// ClockDrift is by how much the clocks' difference was another after the run.
	ClockDrift units.Time `json:"clock_drift"`
}

// ClockError is what the times in the log of a host may be off by.
func (f *Facts) ClockError(host string) units.Time {
	for i := range f.Hosts {
		if h := &f.Hosts[i]; h.Name == host && h.Joined != nil {
			return h.Joined.ClockError
		}
	}
	return 0
}

// PortFacts are the totals of one port over the run.
type PortFacts struct {
	Name        string `json:"name"`
	Packets     int64  `json:"packets"` // transmitted
	WireBytes   int64  `json:"wire_bytes"`
	LateBytes   int64  `json:"late_bytes,omitempty"` // of these, after Facts.PortsAt: what waited at the run's end
	Drops       int64  `json:"drops"`
	CreditDrops int64  `json:"credit_drops"` // of the credit class, which are meant to happen
	Marks       int64  `json:"marks"`
	// What the timeline of faults had the link lose, and make by repeating.
	Lost     int64 `json:"lost,omitempty"`
	Extra    int64 `json:"extra,omitempty"`
	MaxQueue int64 `json:"max_queue"` // bytes, where the engine knows it exactly; 0 elsewhere
	// Stalls are what the port lost while packets waited in it, against its link's
	// rate, and the longest that it sent none of them. nil: not measured.
	Stalls *Stalls `json:"stalls,omitempty"`
	// RateError is by how much the port is faster than its link, as a share of
	// the rate, since the kernel rounds: of full packets and of the smallest.
	RateError      float64 `json:"rate_error,omitempty"`
	SmallRateError float64 `json:"small_rate_error,omitempty"`
}
