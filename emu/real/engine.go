package real

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/fabric/port"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/node"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Real is the engine that runs on this machine's kernel: namespaces, veth and
// traffic control, and a process for each host, by a wall clock slowed down by
// the dilation. It needs what Build needs.
type Engine struct {
	// NodeCommand starts a host process: it must end up in sirdnode.Node with
	// the control pipe as standard input and the log as descriptor 3.
	NodeCommand []string
	// Running, when set, is told which processes are hosts once they run, so
	// that others can enter them. It is called again with nil at the end.
	Running func([]RunningHost)
	// Hold, when set, keeps the fabric up after an experiment that came to its
	// end, until it returns. What it does there is in no measurement.
	Hold func(context.Context)

	// What follows is for a kernel whose clock is virtual; zero for a machine's.

	Label    emu.EngineName // "" is emu.Real
	NodeEnv  []string       // added to the environment of hosts
	Machine  *Machine       // nil: measured
	RxFrames int            // of hosts' receive rings; 0: sirdnode.StallFrames
	// Marker and Wires are as in FabricConfig. The former holds where anything is
	// to be marked.
	Marker emu.Marker
	Wires  emu.Wires
	Tick   time.Duration // between two calls of Progress; 0: 200 ms
	Align  time.Duration // nominal 0 is at a multiple of it, by the kernel's clock; 0: anywhere
}

// A RunningHost is a host process of a fabric that is up.
type RunningHost struct {
	Name string
	PID  int // as seen by the engine
}

// Name implements Engine.
func (r *Engine) Name() emu.EngineName { return cmp.Or(r.Label, emu.Real) }

// Times that host processes get, by the wall clock.
const (
	readyTime = 30 * time.Second      // from start to "ready"
	startLead = 50 * time.Millisecond // from "go" to nominal time 0, besides 0.2 ms a host
	landLimit = 5 * time.Second       // for queues to empty at the end
	stopGrace = 5 * time.Second       // from "stop" to the process's end
)

// Run implements Engine.
func (r *Engine) Run(ctx context.Context, x *emu.Experiment, dir string, hooks emu.Hooks) (facts *emu.Facts, err error) {
	run := &run{engine: r, x: x, dir: emu.RunDir(dir), hooks: hooks}
	run.facts = &emu.Facts{Engine: r.Name(), Started: time.Now(), CPUs: runtime.NumCPU(), Kernel: kernelRelease()}
	if err := run.dir.Begin(x); err != nil {
		return run.facts, err
	}
	err = run.run(ctx)
	run.facts.Wall = (time.Since(run.facts.Started) - run.held).Seconds()
	if err != nil {
		run.facts.Failure = err.Error()
	}
	if e := run.dir.End(run.facts); err == nil {
		err = e
	}
	return run.facts, err
}

// A realRun is one experiment on its way.
type run struct {
	engine *Engine
	x      *emu.Experiment
	dir    emu.RunDir
	hooks  emu.Hooks
	facts  *emu.Facts

	topology *topo.Fabric
	fabric   *fabric.Fabric
	launcher *launcher
	hosts    []*hostProcess
	clock    *clock.Clock
	held     time.Duration // how long the engine's Hold took

	sentInTime []port.Stats // of ports at the run's end, nil before
}

// measure starts the hosts and everything that watches them, waits for the end
// and collects the totals, of what there is, in any case.
func (r *run) measure(ctx context.Context) error {
	steal := readSteal()
	softnet, _ := fabric.SoftnetDrops()
	err := r.startHosts(ctx)
	var taps *tapping
	var samples *sampler
	if err == nil {
		r.engine.announce(r.hosts)
		defer r.engine.announce(nil)
		if r.clock, err = clock.New(r.origin(), r.facts.Dilation); err != nil {
			return err
		}
		taps, err = r.startTaps()
	}
	if err == nil {
		samples, err = r.startSampler()
	}
	if err == nil {
		err = r.wait(ctx)
	}
	err = errors.Join(err, r.readPorts())
	r.land()
	err = errors.Join(err, samples.stop(&r.facts.SampleLateness), taps.stop(&r.facts.CaptureDrops))
	r.facts.Steal = steal.since()
	if after, e := fabric.SoftnetDrops(); e == nil {
		r.facts.SoftnetDrops = after - softnet
	}
	err = errors.Join(err, r.collectPorts())
	if r.engine.Hold != nil && err == nil {
		since := time.Now()
		r.engine.Hold(ctx)
		r.held = time.Since(since)
	}
	err = errors.Join(err, r.stopHosts())
	r.collectHosts()
	return err
}

// origin is the monotonic time of nominal 0: soon enough for all hosts to have
// heard of it.
func (r *run) origin() int64 {
	at := clock.Monotonic() + startLead.Nanoseconds() + int64(len(r.hosts))*200_000
	if align := r.engine.Align.Nanoseconds(); align > 0 {
		at = (at + align - 1) / align * align
	}
	return at
}

func (r *Engine) announce(hosts []*hostProcess) {
	if r.Running == nil {
		return
	}
	var list []RunningHost
	for _, h := range hosts {
		list = append(list, RunningHost{h.name, h.cmd.Process.Pid})
	}
	r.Running(list)
}

// startHosts starts a process for each host and waits until all are ready.
func (r *run) startHosts(ctx context.Context) error {
	for _, h := range r.topology.Hosts {
		name := r.topology.HostName(h)
		log, err := os.Create(r.dir.HostLog(name))
		if err != nil {
			return err
		}
		p, err := r.launcher.start(r.engine.NodeCommand, r.engine.NodeEnv, r.fabric.NamespaceFD(topo.NodeID(h)), h, name, log)
		log.Close()
		if err != nil {
			return err
		}
		r.hosts = append(r.hosts, p)
	}
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	for _, p := range r.hosts {
		if err := p.say(r.nodeConfig(p.host)); err != nil {
			return errors.Join(p.death(), err)
		}
	}
	for _, p := range r.hosts {
		if _, err := p.await(ctx, node.StateReady); errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("host %s was not ready after %v: the machine is too slow, or busy, for %d hosts", p.name, readyTime, len(r.hosts))
		} else if err != nil {
			return err
		}
	}
	return nil
}

// land has the hosts send nothing more and waits until the fabric is empty, as
// far as that can be seen, so that every packet is accounted for.
func (r *run) land() {
	for _, p := range r.hosts {
		p.say("land")
	}
	if r.clock == nil {
		return
	}
	stats := make([]port.Stats, len(r.topology.Ports))
	for until := time.Now().Add(landLimit); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if r.fabric.PortStats(stats) != nil {
			break
		}
		waiting := int64(0)
		for i := range stats {
			bytes, _ := stats[i].Backlog()
			waiting += bytes
		}
		if waiting == 0 {
			break
		}
	}
	last := r.topology.Hosts[len(r.topology.Hosts)-1]
	transit := r.topology.Transit(r.topology.Path(0, last, 0), r.topology.FullFrame())
	time.Sleep(time.Duration(r.clock.Span(transit)) + 20*time.Millisecond)
}

// stopHosts ends all host processes and keeps their reports.
func (r *run) stopHosts() error {
	for _, p := range r.hosts {
		p.say("stop")
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	var errs []error
	for _, p := range r.hosts {
		if p.failed == nil {
			if s, err := p.await(ctx, node.StateFinished); errors.Is(err, context.DeadlineExceeded) {
				errs = append(errs, fmt.Errorf("host %s did not answer within %v at the end, and was killed", p.name, stopGrace))
			} else if err != nil {
				errs = append(errs, err)
			} else {
				p.report = s.Report
			}
		} // else wait has told
		p.stop(time.Second)
	}
	if len(errs) > 3 {
		errs = append(errs[:3], fmt.Errorf("and %d more hosts", len(errs)-3))
	}
	return errors.Join(errs...)
}

func kernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return strings.TrimRight(string(u.Release[:]), "\x00")
}

// readPorts reads what ports have sent by the end of the run. What waits in them
// leaves later.
func (r *run) readPorts() error {
	if r.clock == nil {
		return nil
	}
	r.sentInTime = make([]port.Stats, len(r.topology.Ports))
	err := r.fabric.PortStats(r.sentInTime)
	r.facts.PortsAt = r.clock.Now()
	return err
}

// collectPorts reads all ports' totals.
func (r *run) collectPorts() error {
	stats := make([]port.Stats, len(r.topology.Ports))
	if err := r.fabric.PortStats(stats); err != nil {
		return err
	}
	links, err := r.fabric.LinkCounters()
	if err != nil {
		return err
	}
	for i := range stats {
		s := &stats[i]
		_, packets := s.Sent()
		drops, credits := s.Drops()
		full, smallest := r.fabric.RateErrors(topo.PortID(i))
		late := int64(0)
		if r.sentInTime != nil {
			late = s.SentWireBytes() - r.sentInTime[i].SentWireBytes()
		}
		r.facts.Ports = append(r.facts.Ports, emu.PortFacts{
			Name: r.topology.Ports[i].Name, Packets: packets, WireBytes: s.SentWireBytes(), LateBytes: late,
			Drops: drops, CreditDrops: credits, Marks: int64(s.Marked),
			RateError: full, SmallRateError: smallest,
		})
		r.facts.LinkDrops += int64(links[i].ReceivedDropped)
	}
	return nil
}

// collectHosts turns the hosts' reports into facts.
func (r *run) collectHosts() {
	var all clock.Lateness
	for _, p := range r.hosts {
		f := emu.HostFacts{Name: p.name}
		if rep := p.report; rep != nil {
			all.Merge(&rep.Lateness)
			f = emu.HostFacts{
				Name: p.name, Finished: true, Kernel: rep.Kernel,
				Sent: rep.NIC.Sent, Received: rep.NIC.Received, Corrupt: rep.NIC.Corrupt, Flipped: rep.NIC.Flipped, Foreign: rep.NIC.Foreign,
				RingDrops: rep.NIC.Drops, Faults: int64(rep.Faults.Dropped), Extra: int64(rep.Faults.Duplicated),
				Lateness: latenessOf(&rep.Lateness), Generator: latenessOf(&rep.Generator),
			}
			r.facts.ThreadCPU = max(r.facts.ThreadCPU, rep.CPU)
			r.facts.Reached = max(r.facts.Reached, rep.Reached)
		}
		r.facts.Hosts = append(r.facts.Hosts, f)
	}
	r.facts.Lateness = latenessOf(&all)
}

// latenessOf summarizes a histogram in nominal ns.
func latenessOf(l *clock.Lateness) emu.Lateness {
	q := func(p float64) units.Time { return units.Time(l.Quantile(p)) }
	return emu.Lateness{Count: int64(l.Count()), Median: q(0.5), P99: q(0.99), P999: q(0.999), Max: units.Time(l.Max())}
}
