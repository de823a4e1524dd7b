//go:build linux

package real

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/launch"
	"sirdbed/sirdnode/clock"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Programs beside the traffic. Each has a goroutine of its own, which starts it when
// those that it comes after are ready, waits until it is ready itself, and sees it end
// (app.go). All begin at nominal 0 and are ended before the fabric is drained.

// apps are the programs of a run.
type apps struct {
	run   *run
	list  []*app
	names string        // of nodes, for all
	ended chan struct{} // closed when none is left that the run waits for
	stop  context.CancelFunc
	all   sync.WaitGroup
}

// startApps begins to start the experiment's programs; nil if it has none. The clock has
// been set.
func (r *run) startApps() (*apps, error) {
	if len(r.x.Apps) == 0 {
		return nil, nil
	}
	dir, err := r.dir.Make(emu.AppOutputs)
	if err != nil {
		return nil, err
	}
	dir.Close()
	a := &apps{run: r, names: launch.Names(r.topology), ended: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	a.stop = stop
	for i := range r.x.Apps {
		one, err := a.newApp(&r.x.Apps[i])
		if err != nil {
			stop()
			return nil, err
		}
		a.list = append(a.list, one)
	}
	var awaited sync.WaitGroup
	for _, one := range a.list {
		a.all.Add(1)
		if !one.IsDaemon() {
			awaited.Add(1)
		}
		go func() {
			defer a.all.Done()
			one.live(ctx)
			if !one.IsDaemon() {
				awaited.Done()
			}
		}()
	}
	if len(r.x.Streams) == 0 && !slices.ContainsFunc(a.list, func(one *app) bool { return !one.IsDaemon() }) {
		return a, nil // daemons alone run to the run's end
	}
	go func() {
		awaited.Wait()
		close(a.ended)
	}()
	return a, nil
}

// waited is closed when no program is left that the run waits for; nil, for ever, if the
// run has none.
func (a *apps) waited() <-chan struct{} {
	if a == nil {
		return nil
	}
	return a.ended
}

// end ends what still runs, and writes down what became of all.
func (a *apps) end() {
	if a == nil {
		return
	}
	a.stop()
	a.all.Wait()
	a.sweep()
	for _, one := range a.list {
		one.output.close(&one.facts)
		a.run.facts.Apps = append(a.run.facts.Apps, one.facts)
	}
}

// find returns the program of a name, which the scenario has checked.
func (a *apps) find(name string) *app {
	i := slices.IndexFunc(a.list, func(one *app) bool { return one.Name == name })
	if i < 0 {
		return nil
	}
	return a.list[i]
}

// now is the nominal time.
func (a *apps) now() units.Time { return max(0, a.run.clock.ToNominal(clock.Monotonic())) }

// appVar marks the processes of programs, so that those are found that have left their
// group, such as daemons.
const appVar = "SIRDBED_PROGRAM"

// sweep ends what programs have left running in the background.
func (a *apps) sweep() {
	var nodes []unix.Stat_t
	for i := range a.run.topology.Nodes {
		var stat unix.Stat_t
		if unix.Fstat(a.run.fabric.NamespaceFD(topo.NodeID(i)), &stat) == nil {
			nodes = append(nodes, stat)
		}
	}
	proc, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	for _, entry := range proc {
		var pid int
		if n, err := fmt.Sscanf(entry.Name(), "%d", &pid); n != 1 || err != nil {
			continue
		}
		var its unix.Stat_t
		if unix.Stat(fmt.Sprintf("/proc/%d/ns/net", pid), &its) != nil || !marked(pid) {
			continue
		}
		same := func(s unix.Stat_t) bool { return s.Dev == its.Dev && s.Ino == its.Ino }
		if slices.ContainsFunc(nodes, same) {
			_ = unix.Kill(pid, unix.SIGKILL) // it may have ended
		}
	}
}

// countKernelPackets reads what the nodes' kernels have sent and received, if there were
// programs.
func (r *run) countKernelPackets() error {
	if len(r.x.Apps) == 0 {
		return nil
	}
	total := &emu.KernelPackets{}
	for i := range r.topology.Nodes {
		err := r.fabric.Do(topo.NodeID(i), func() error {
			n, err := fabric.CountKernelPackets()
			total.Sent, total.Received = total.Sent+n.Sent, total.Received+n.Received
			if r.topology.Nodes[i].Kind == topo.Host {
				total.SentBytes += n.SentBytes
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("packets of the kernel of %s: %w", r.topology.Nodes[i].Name, err)
		}
	}
	r.facts.KernelPackets = total
	if total.Sent == 0 {
		r.facts.UndelayedPrograms = 0 // programs used the transport alone
	}
	return nil
}

// errNotStarted is the problem of a program that was not started when the run ended.
var errNotStarted = errors.New("the run ended before it was started")

// appGrace is how long a program may take to end when it is asked to, by its own clock.
const appGrace = 2 * time.Second
