//go:build linux

// Package node is the process of one host: a host.Host on a raw socket, or a
// host.Application above the sockets of its kernel, by a clock of its own. It
// runs in the host's network namespace and speaks to the controller by a pipe.
package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"

	"sirdbed/baselines/all"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/host"
	"sirdbed/sirdnode/record"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Run runs one host on a raw socket, or on its kernel's sockets, on the calling
// goroutine, until the controller stops it or the run's end. The caller's thread must be in the
// host's network namespace. control is a pipe from the controller, out one to
// it; log takes the host's records.
func Run(control int, out, log io.Writer) error {
	if err := clock.LockThread(); err != nil {
		return err
	}
	// Where it finds huge pages to make, the kernel copies for milliseconds on end, in which
	// a kernel that is not preemptible runs nothing else.
	_ = unix.Prctl(unix.PR_SET_THP_DISABLE, 1, 0, 0, 0)
	n := &node{control: controlPipe{fd: control}, out: json.NewEncoder(out)}
	err := n.run(log)
	if err != nil {
		n.out.Encode(Status{State: StateFailed, Error: err.Error()})
	}
	return err
}

// A node is a host process.
type node struct {
	control   controlPipe
	out       *json.Encoder
	cfg       Config
	fabric    *topo.Fabric
	station                    // without host and nic where the protocol is the kernel's
	driver    transport.Driver // of a protocol of the kernel, nil for others
	programs  *programs        // nil for a host without, and once it drains
	log       *record.Writer
	clock     *clock.Clock
	foresight foresight

	flushAt int64      // when the log is written next, monotonic ns
	served  units.Time // all that was due by then is done
	done    bool       // and has reported it
	busy    int64      // processor time when it began to drain, since start
	drained int64      // when that was, monotonic ns
	stalls  clock.Stalls
	away    outages
}

func (n *node) run(log io.Writer) error {
	line, err := n.control.line()
	if err != nil {
		return fmt.Errorf("no configuration from the controller: %w", err)
	}
	if task, ok := bytes.CutPrefix(line, []byte(CommandCalibrate+" ")); ok {
		if err := n.calibrate(task); err != nil {
			return err
		}
		if line, err = n.control.line(); err != nil {
			return fmt.Errorf("no configuration from the controller: %w", err)
		}
	}
	if err := json.Unmarshal(line, &n.cfg); err != nil {
		return fmt.Errorf("configuration from the controller: %w", err)
	}
	if err := n.setUp(log); err != nil {
		return err
	}
	defer n.close()
	collectOnce()
	origin, err := n.start()
	if err != nil {
		return err
	}
	if n.clock, err = clock.New(origin, n.cfg.Dilation); err != nil {
		return err
	}
	n.busy = -clock.ThreadTime()
	if n.driver != nil {
		err = n.driverLoop()
	} else {
		err = n.loop()
	}
	if err != nil {
		return err
	}
	n.drain(clock.Monotonic())
	return n.finish(float64(n.busy) / float64(max(1, n.drained-origin)))
}

// collectOnce collects what setting up has left, or it would be collected as the run begins.
// Where nothing ever is, in guests, it would touch every page of the program's data for nothing.
func collectOnce() {
	if os.Getenv("GOGC") != "off" {
		runtime.GC()
	}
}

// start reports that the host is ready, and returns when it is to start.
func (n *node) start() (origin int64, err error) {
	if err := n.out.Encode(Status{State: StateReady}); err != nil {
		return 0, err
	}
	line, err := n.control.line()
	if err != nil {
		return 0, fmt.Errorf("the controller did not start the run: %w", err)
	}
	if _, err := fmt.Sscanf(string(line), CommandGo+" %d", &origin); err != nil {
		return 0, fmt.Errorf("the controller sent %q, not when to start", line)
	}
	return origin, nil
}

// drain begins to send nothing more. What comes then is no load of the run's.
func (n *node) drain(mono int64) {
	if !n.draining {
		n.draining, n.drained = true, mono
		n.busy += clock.ThreadTime()
		n.programs.end()
		n.programs = nil
		n.endOutages()
		if n.nic != nil {
			n.nic.endHolding()
		}
	}
}

func (n *node) setUp(log io.Writer) error {
	err := clock.SetProcessPolicy(n.cfg.Policy)
	if err != nil {
		return err
	}
	if n.fabric, err = topo.New(n.cfg.Topology); err != nil {
		return err
	}
	n.fabric = n.fabric.WithLoop(n.cfg.Loop)
	protocol, err := all.Find(n.cfg.Protocol)
	if err != nil {
		return err
	}
	n.stalls = clock.Stalls{
		From: n.cfg.From, To: n.cfg.To,
		Least: n.cfg.Stall,
	}
	params, err := all.DecodeParams(protocol, n.fabric, n.cfg.Params)
	if err != nil {
		return err
	}
	if n.cfg.Unlogged {
		log = io.Discard
	}
	n.log = record.NewWriter(log)
	cfg := host.Config{
		Self: n.cfg.Self, Fabric: n.fabric, Protocol: protocol, Params: params,
		Streams: n.cfg.Streams, Seed: n.cfg.Seed,
		From: n.cfg.From, To: n.cfg.To, GaugeEvery: n.cfg.GaugeEvery,
	}
	n.away.list = n.cfg.Timeline.Outages(n.fabric, n.cfg.Self)
	cfg.Mortal = slices.ContainsFunc(n.away.list, func(o fault.Outage) bool { return o.Dead })
	if protocol.CheckDriver != nil {
		return n.setUpDriver(cfg)
	}
	n.host, err = host.New(cfg, n.log)
	if err != nil {
		return err
	}
	n.app = n.host.Application
	n.catchUp, n.grain = n.cfg.CatchUp, n.cfg.Grain
	reach := inFabric{n.fabric, n.cfg.Self, n.cfg.Cable}
	n.nic, err = openNIC(n.fabric, reach, protocol, protocol.Network(n.fabric, params), &n.cfg)
	if err == nil {
		n.nic.links = newLinks(n.cfg.Timeline, n.fabric, n.cfg.Self, n.cfg.Seed)
	}
	if err != nil || n.cfg.Programs == "" {
		return err
	}
	n.nic.fill = n.host.Fill
	if n.programs, err = openPrograms(n.host, n.fabric, n.cfg.Self, n.cfg.Programs); err != nil {
		n.nic.close()
	}
	return err
}

// close gives back what setUp opened.
func (n *node) close() {
	n.programs.close()
	if n.driver != nil {
		n.driver.Close()
	} else {
		n.nic.close()
	}
}

func (n *node) finish(cpu float64) error {
	// A host that had nothing to do at the window's end was there all the same.
	reached := max(n.last, min(n.served, n.cfg.To))
	report := &Report{Lateness: n.lateness, Generator: n.generator, CPU: cpu, Reached: reached,
		Stalled: n.stalls.Total, LongestStall: n.stalls.Longest}
	var err error
	if n.driver != nil {
		report.Kernel = true
		report.NIC, err = n.driverCounts()
	} else {
		report.NIC, err = n.nic.finish()
		report.Faults = n.nic.faults()
	}
	if err != nil {
		return err
	}
	if err := n.app.Finish(n.last); err != nil {
		return fmt.Errorf("writing the host's log: %w", err)
	}
	report.Counts = n.app.Counts()
	return n.out.Encode(Status{State: StateFinished, Report: report})
}
