package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"golang.org/x/sys/unix"

	"sirdbed/baselines/all"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/host"
	"sirdbed/sirdnode/record"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Config is what the controller sends a host process first, as one line of JSON.
type Config struct {
	Self     topo.HostID      `json:"self"`
	Topology topo.Spec        `json:"topology"`
	Protocol string           `json:"protocol"`
	Params   json.RawMessage  `json:"params,omitempty"`
	Streams  []traffic.Stream `json:"streams"`
	Seed     uint64           `json:"seed"`
	Faults   fault.Config     `json:"faults"`

	From       units.Time `json:"from"` // of the measured window
	To         units.Time `json:"to"`
	End        units.Time `json:"end"` // when to stop in any case
	GaugeEvery units.Time `json:"gauge_every"`
	// CatchUp is how much of a late wake-up is made good: what was due in the
	// meantime happens as of its own time, up to so long ago.
	CatchUp units.Time `json:"catch_up"`

	Interface string         `json:"interface"`
	RxFrames  int            `json:"rx_frames"` // that the receive ring holds, see StallFrames
	Dilation  units.Dilation `json:"dilation"`
	// Hold says that the links do not delay packets: the host keeps each for
	// its path's propagation and serialization, and then it has arrived.
	Hold bool `json:"hold"`
}

// The controller sends a host process lines: its config, commands in this order.
// The process answers each time with Status in JSON.
const (
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
	StateReady    = "ready"    // configured, waiting for "go"
	StateDone     = "done"     // its messages and its transport's state are settled, or the end has come; still serving others
	StateBusy     = "busy"     // not done after all: others had something for it
	StateFinished = "finished" // stopped in good order; Report holds its totals
	StateFailed   = "failed"   // Error says why
)

// Status is a host process's line to the controller.
type Status struct {
	State  string  `json:"state"`
	Error  string  `json:"error,omitempty"`
	Report *Report `json:"report,omitempty"`
}

// Report is the totals of a host process.
type Report struct {
	Counts    host.Counts    `json:"counts"`
	NIC       NICCounts      `json:"nic"`
	Faults    fault.Counters `json:"faults"`
	Lateness  clock.Lateness `json:"lateness"`  // of what was due, in nominal ns
	Generator clock.Lateness `json:"generator"` // of messages from the application, in nominal ns
	CPU       float64        `json:"cpu"`       // share of a processor that the loop used
	Reached   units.Time     `json:"reached"`
	// Kernel says that NIC counts segments of the kernel's protocol, by the
	// kernel's own counters, and that there is no receive ring.
	Kernel bool `json:"kernel,omitempty"`
}

// Run runs one host on a raw socket, or on its kernel's sockets, on the calling
// goroutine, until the controller stops it or the run's end. The caller's thread must be in the
// host's network namespace. control is a pipe from the controller, out one to
// it; log takes the host's records.
func Run(control int, out, log io.Writer) error {
	if err := clock.LockThread(); err != nil {
		return err
	}
	n := &node{control: controlPipe{fd: control}, out: json.NewEncoder(out)}
	err := n.run(log)
	if err != nil {
		n.out.Encode(Status{State: StateFailed, Error: err.Error()})
	}
	return err
}

// A node is a host process.
type node struct {
	control controlPipe
	out     *json.Encoder
	cfg     Config
	fabric  *topo.Fabric
	app     *host.Application
	host    *host.Host // app's transport, and its nic; nil for a protocol of the kernel
	nic     *nic
	driver  transport.Driver // of a protocol of the kernel, nil for others
	log     *record.Writer
	clock   *clock.Clock

	flushAt             int64      // when the log is written next, monotonic ns
	last                units.Time // no event is earlier
	done                bool       // and has reported it
	draining            bool       // sends nothing more
	busy                int64      // processor time when it began to drain, since start
	drained             int64      // when that was, monotonic ns
	lateness, generator clock.Lateness
}

func (n *node) run(log io.Writer) error {
	line, err := n.control.line()
	if err != nil {
		return fmt.Errorf("no configuration from the controller: %w", err)
	}
	if err := json.Unmarshal(line, &n.cfg); err != nil {
		return fmt.Errorf("configuration from the controller: %w", err)
	}
	if err := n.setUp(log); err != nil {
		return err
	}
	defer n.close()
	if err := n.out.Encode(Status{State: StateReady}); err != nil {
		return err
	}
	if line, err = n.control.line(); err != nil {
		return fmt.Errorf("the controller did not start the run: %w", err)
	}
	var origin int64
	if _, err := fmt.Sscanf(string(line), CommandGo+" %d", &origin); err != nil {
		return fmt.Errorf("the controller sent %q, not when to start", line)
	}
	if n.clock, err = clock.New(origin, n.cfg.Dilation); err != nil {
		return err
	}
	n.busy = -processCPU()
	if n.driver != nil {
		err = n.kernelLoop()
	} else {
		err = n.loop()
	}
	if err != nil {
		return err
	}
	n.drain(clock.Monotonic())
	return n.finish(float64(n.busy) / float64(max(1, n.drained-origin)))
}

// drain begins to send nothing more. What comes then is no load of the run's.
func (n *node) drain(mono int64) {
	if !n.draining {
		n.draining, n.drained = true, mono
		n.busy += processCPU()
	}
}

func (n *node) setUp(log io.Writer) error {
	var err error
	if n.fabric, err = topo.New(n.cfg.Topology); err != nil {
		return err
	}
	protocol, err := all.Find(n.cfg.Protocol)
	if err != nil {
		return err
	}
	params, err := all.DecodeParams(protocol, n.fabric, n.cfg.Params)
	if err != nil {
		return err
	}
	n.log = record.NewWriter(log)
	cfg := host.Config{
		Self: n.cfg.Self, Fabric: n.fabric, Protocol: protocol, Params: params,
		Streams: n.cfg.Streams, Seed: n.cfg.Seed,
		From: n.cfg.From, To: n.cfg.To, GaugeEvery: n.cfg.GaugeEvery,
	}
	if protocol.CheckDriver != nil {
		return n.setUpKernel(cfg)
	}
	n.host, err = host.New(cfg, n.log)
	if err != nil {
		return err
	}
	n.app = n.host.Application
	n.nic, err = openNIC(n.fabric, protocol, protocol.Network(n.fabric, params), &n.cfg)
	return err
}

// close gives back what setUp opened.
func (n *node) close() {
	if n.driver != nil {
		n.driver.Close()
	} else {
		n.nic.close()
	}
}

// logEvery is how much of the log a crash can cost, in monotonic ns.
const logEvery = 200e6

// loop is the host's life: take what has arrived, do what is due, send what the
// NIC can take, sleep until the next of these.
func (n *node) loop() error {
	n.nic.clock = n.clock
	extra := []unix.PollFd{{Fd: int32(n.control.fd), Events: unix.POLLIN}}
	wait := n.clock.Origin()
	n.flushAt = wait + logEvery
	for {
		_, mono, err := n.nic.socket.Wait(wait, extra)
		if err != nil {
			return err
		}
		now := n.clock.ToNominal(mono)
		if extra[0].Revents != 0 {
			if stop, err := n.command(mono); err != nil || stop {
				return err
			}
		}
		if now >= n.cfg.End {
			n.drain(mono)
		}
		if now < 0 {
			wait = n.clock.Origin()
			continue
		}
		n.nic.take(mono)
		if err := n.serve(now); err != nil {
			return err
		}
		if err := n.keepLog(mono, now); err != nil {
			return err
		}
		next := n.nic.due()
		if !n.draining {
			next = min(next, n.host.Wake(), n.cfg.End)
		}
		if n.nic.socket.Unsent() > 0 {
			next = min(next, now+n.nic.packetTime())
		}
		// What serve has left undone is due later: a virtual clock stands still for
		// whoever asks again at once.
		next = max(next, now+1)
		wait = min(n.clock.ToKernel(next), n.flushAt)
	}
}

// keepLog writes the log when that is due, and reports to the controller.
func (n *node) keepLog(mono int64, now units.Time) error {
	if mono >= n.flushAt {
		n.flushAt = mono + logEvery
		if err := n.log.Flush(); err != nil {
			return fmt.Errorf("writing the host's log: %w", err)
		}
	}
	return n.report(now)
}

// report tells the controller when the host is done, and when it is busy again.
func (n *node) report(now units.Time) error {
	done := n.draining || now >= n.cfg.To && n.settled()
	if done == n.done {
		return nil
	}
	n.done = done
	state := StateBusy
	if done {
		state = StateDone
	}
	return n.out.Encode(Status{State: state})
}

// settled reports that nothing of the host's own is under way.
func (n *node) settled() bool {
	if n.host != nil {
		return n.host.Settled()
	}
	return n.app.Done()
}

// serve does what is due by now, in the order and as of the times in which it
// was due, as far back as CatchUp: the host's state machine and its NIC see time
// as if the process had woken up in time, and only what it sends is late.
func (n *node) serve(now units.Time) error {
	for idle := 0; idle < 2; {
		arrival, wake := n.nic.due(), units.Never
		if !n.draining {
			wake = n.host.Wake()
		}
		due := min(arrival, wake)
		if due > now {
			break
		}
		n.late(due, now)
		at := max(due, n.last, now-n.cfg.CatchUp)
		n.last = at
		if !n.draining {
			n.host.Advance(at)
		}
		idle++ // a wake-up for nothing does not repeat for ever
		if arrival <= at {
			idle = 0
			if p := n.nic.deliver(at); p != nil {
				n.host.Receive(at, p)
			}
		}
		if n.draining {
			continue
		}
		sent, err := n.nic.transmit(at, now, n.host)
		if err != nil {
			return err
		}
		if sent > 0 {
			idle = 0
		}
	}
	return n.nic.flush(now, n.host)
}

// late counts how late something is that was due. A transport's wish to be
// called at once is not a time.
func (n *node) late(due, now units.Time) {
	if due <= n.last {
		return
	}
	n.lateness.Add(int64(now - due))
	if n.app.NextMessage() <= due {
		n.generator.Add(int64(now - due))
	}
}

func (n *node) finish(cpu float64) error {
	report := &Report{Lateness: n.lateness, Generator: n.generator, CPU: cpu, Reached: n.last}
	var err error
	if n.driver != nil {
		report.Kernel = true
		report.NIC, err = n.kernelCounts()
	} else {
		report.NIC, err = n.nic.finish()
		report.Faults = n.nic.shim.Counters()
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

// processCPU returns the processor time used by the calling thread, in ns.
func processCPU() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// A controlPipe is the controller's end of the conversation, read without the
// Go runtime's poller, which the host's loop leaves no thread for.
type controlPipe struct {
	fd   int
	rest []byte
}

// line blocks until the controller has written a line, at most 16 MiB.
func (c *controlPipe) line() ([]byte, error) {
	buf := make([]byte, 64<<10)
	for searched := 0; len(c.rest) < 16<<20; {
		for i := searched; i < len(c.rest); i++ {
			if c.rest[i] == '\n' {
				line := c.rest[:i]
				c.rest = c.rest[i+1:]
				return line, nil
			}
		}
		searched = len(c.rest)
		n, err := unix.Read(c.fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		c.rest = append(c.rest, buf[:n]...)
	}
	return nil, fmt.Errorf("a line of more than %d bytes", len(c.rest))
}

// command takes a command from the controller, which has sent one or is gone. It
// reports whether to stop.
func (n *node) command(mono int64) (stop bool, err error) {
	line, err := n.control.line()
	switch {
	case err == io.ErrUnexpectedEOF:
		return true, nil
	case err != nil:
		return true, err
	case string(line) == CommandDrain:
		n.drain(mono)
		// The command to stop may have come with it.
		return bytes.IndexByte(n.control.rest, '\n') >= 0, nil
	case string(line) == CommandStop:
		return true, nil
	}
	return true, fmt.Errorf("the controller sent %q in the middle of the run", line)
}
