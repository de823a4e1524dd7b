//go:build linux

package real

import (
	"errors"
	"fmt"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/topo"
)

// errNoMachine is why a run that may not touch the machine takes no devices.
var errNoMachine = errors.New("devices are taken by root alone, outside of user namespaces: run it with sudo")

// checkDevices reports whether the devices of an experiment can be taken.
func (e *Engine) checkDevices(x *emu.Experiment) error {
	if len(x.Hosts) == 0 {
		return nil
	}
	if x.Dilation > 1 {
		return fmt.Errorf("dilation %d, and host %s is the device %s, whose clock cannot be stretched: "+
			"use --dilation 1", x.Dilation, x.Hosts[0].Name, x.Hosts[0].Device)
	}
	if join := x.Joining(); len(join) > 0 && emu.KernelTCP(x) {
		return emu.Unsuited(fmt.Sprintf("host %s joins, and kernel TCP is that of its machine: leave out join, "+
			"and run programs there", join[0]), nil)
	}
	if e.Devices == nil {
		return fmt.Errorf("host %s is the device %s: %w", x.Hosts[0].Name, x.Hosts[0].Device, errNoMachine)
	}
	for _, h := range x.Hosts {
		if h.Join && x.Up {
			return fmt.Errorf("host %s joins by sirdbed node join, and there is no run to join: without join: true "+
				"the other end takes part by its own kernel", h.Name)
		}
		if h.Join && e.Gate == nil {
			return fmt.Errorf("host %s joins by sirdbed node join: say where it finds the run, --join-listen ADDRESS",
				h.Name)
		}
		d, err := e.Devices.Take(h.Device, h.Force)
		if err == nil {
			err = d.Release()
		}
		if err != nil {
			return fmt.Errorf("host %s: %w", h.Name, err)
		}
	}
	return nil
}

// takeDevices takes the devices of the experiment, which takeDown releases.
func (r *run) takeDevices() (map[topo.HostID]fabric.HostDevice, error) {
	if len(r.x.Hosts) == 0 {
		return nil, nil
	}
	if r.engine.Devices == nil {
		return nil, errNoMachine
	}
	r.devices = map[topo.HostID]fabric.HostDevice{}
	for _, h := range r.x.Hosts {
		id, ok := r.topology.Host(h.Name)
		if !ok {
			return nil, fmt.Errorf("there is no host %q", h.Name)
		}
		d, err := r.engine.Devices.Take(h.Device, h.Force)
		if err != nil {
			return nil, fmt.Errorf("host %s: %w", h.Name, err)
		}
		r.devices[id] = fabric.HostDevice{Device: d}
		if peer := r.peers[id]; peer != nil {
			r.devices[id] = fabric.HostDevice{Device: d, PeerMAC: peer.MAC}
			continue
		}
		if h.PeerMAC == "" {
			continue
		}
		mac, err := topo.ParseMAC(h.PeerMAC)
		if err != nil {
			return nil, fmt.Errorf("host %s: %w", h.Name, err)
		}
		r.devices[id] = fabric.HostDevice{Device: d, PeerMAC: mac}
	}
	return r.devices, nil
}

// releaseDevices makes the devices again what they were.
func (r *run) releaseDevices() (err error) {
	for _, d := range r.devices {
		err = errors.Join(err, d.Release())
	}
	return err
}
