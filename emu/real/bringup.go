//go:build linux

package real

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/emu/thread"
	"sirdbed/sirdnode/message/frame"
	"sirdbed/sirdnode/node"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// readyTime is how long host processes may take from their start to "ready", by
// the wall clock.
const readyTime = 30 * time.Second

// bringUp builds the fabric and starts the hosts. Where the fabric cannot be
// built, r.fabric is nil.
func (r *run) bringUp(ctx context.Context) error {
	if err := r.awaitPeers(ctx); err != nil {
		return err
	}
	config, err := r.settle(ctx)
	if err != nil {
		return err
	}
	if config.Devices, err = r.takeDevices(); err != nil {
		return err
	}
	if r.fabric, err = fabric.Build(ctx, r.topology, config); err != nil {
		return err
	}
	r.facts.Features = r.fabric.Features()
	r.facts.UndelayedPrograms = r.undelayed()
	r.launcher = thread.New()
	r.before = readMachineCounters()
	if err := r.startHosts(r.createLog); err != nil {
		return err
	}
	return r.configureHosts(ctx)
}

// processHosts are the hosts that run the protocol: in this kernel's fabric, or as peers that
// join.
func (r *run) processHosts() (list []topo.HostID) {
	for _, h := range r.topology.Hosts {
		if r.has(topo.NodeID(h)) && !r.x.Opaque(r.topology.HostName(h)) {
			list = append(list, h)
		}
	}
	return list
}

// startHosts starts a process for each host, whose log is what log returns.
func (r *run) startHosts(log func(name string) (*os.File, error)) error {
	for _, h := range r.processHosts() {
		p, err := r.startHost(h, log)
		if err != nil {
			return err
		}
		r.hosts = append(r.hosts, p)
		r.engine.Platform.starting(len(r.hosts))
	}
	return nil
}

// configureHosts tells hosts what to be, and waits until all are ready.
func (r *run) configureHosts(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	if err := r.compareClocks(); err != nil {
		return err
	}
	for _, p := range r.hosts {
		text, err := json.Marshal(r.nodeConfig(p.host))
		if err != nil {
			return err
		}
		if err := p.send(string(text)); err != nil {
			return errors.Join(p.death(), err)
		}
	}
	for i, p := range r.hosts {
		if _, err := p.await(ctx, node.StateReady); errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("host %s was not ready after %v: the machine is too slow, or busy, for %d hosts",
				p.name, readyTime, len(r.hosts))
		} else if err != nil {
			return err
		}
		r.engine.Platform.starting(i + 1)
	}
	return nil
}

// startHost starts a host's process in its namespace, with its record log.
func (r *run) startHost(h topo.HostID, log func(name string) (*os.File, error)) (*hostProcess, error) {
	name := r.topology.HostName(h)
	file, err := log(name)
	if err != nil {
		return nil, err
	}
	if peer := r.peers[h]; peer != nil {
		return startJoined(peer, h, name, file)
	}
	defer file.Close()
	p, err := newHostProcess(r.engine.NodeCommand, r.engine.Platform.HostEnv, h, name, file)
	if err != nil {
		return nil, err
	}
	ns := r.fabric.NamespaceFD(topo.NodeID(h))
	return p, p.start(func(start func() error) error {
		return r.launcher.Do(func() error { return fabric.Within(ns, start) })
	})
}

// createLog returns the file for a host's records: one without a name, for nothing, where
// nothing is measured.
func (r *run) createLog(host string) (*os.File, error) {
	if r.x.Up {
		return noLog(host)
	}
	return r.dir.Create(emu.HostLog(host))
}

// nodeConfig is what the process of a host is sent before it is ready.
func (r *run) nodeConfig(h topo.HostID) node.Config {
	from, to := r.x.Window()
	end := r.x.End()
	if r.x.Up {
		to, end = units.Never, units.Never
	}
	c := node.Config{
		Self: h, Topology: r.x.Topology, Loop: r.topology.Loop(),
		Protocol: r.x.Protocol, Params: r.x.Params, Streams: r.x.Streams,
		Seed: r.x.Seed, Faults: r.x.Faults, Timeline: r.x.Timeline,
		From: from, To: to, End: end, GaugeEvery: r.facts.GaugeEvery,
		CatchUp: r.catchUp(h), Stall: r.stall(h), Grain: r.grain(), Apart: r.apart().Nanoseconds(),
		Spin:   r.machine.WakeCost.Nanoseconds(),
		Policy: r.means.Policy, RxFrames: r.engine.Platform.rxFrames(), Programs: r.socket(), Unlogged: r.x.Up,
		Interface: r.topology.Uplink(h).Iface, Dilation: r.facts.Dilation,
		DelayFrames: r.fabric.Wires() == emu.HostDelay && !emu.KernelTCP(r.x),
	}
	if peer := r.peers[h]; peer != nil {
		r.atPeer(&c, peer)
	}
	return c
}

// socket is the address at which programs find the transport, in every host; "": nowhere.
func (r *run) socket() string {
	if !r.x.Serves() {
		return ""
	}
	return frame.Address
}

// announce reports which processes are hosts; nil: none any more.
func (r *run) announce(hosts []*hostProcess) {
	if r.engine.Running == nil {
		return
	}
	if r.engine.Built != nil && hosts != nil {
		r.engine.Built(r.fabric)
	}
	r.engine.Running(running(hosts))
}

func running(hosts []*hostProcess) (list []RunningHost) {
	for _, h := range hosts {
		if h.joined == nil {
			list = append(list, RunningHost{h.name, h.cmd.Process.Pid})
		}
	}
	return list
}
