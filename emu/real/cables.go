//go:build linux

package real

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"sirdbed/emu"
	"sirdbed/emu/fabric/device"
	"sirdbed/topo"
)

// lookAtCables notes how devices' cables are before the run.
func (r *run) lookAtCables() error {
	r.cables = map[topo.HostID]device.Carrier{}
	for h, d := range r.devices {
		c, err := d.Carrier()
		if err != nil {
			return fmt.Errorf("host %s: %w", r.topology.HostName(h), err)
		}
		r.cables[h] = c
	}
	return nil
}

// collectCables finds out whether they have held.
func (r *run) collectCables() error {
	for _, h := range slices.Sorted(maps.Keys(r.cables)) {
		f := emu.CableFacts{Host: r.topology.HostName(h), Device: r.devices[h].Name()}
		c, err := r.devices[h].Carrier()
		if f.Gone = errors.Is(err, device.ErrGone); err != nil && !f.Gone {
			return fmt.Errorf("host %s: %w", f.Host, err)
		}
		if !f.Gone {
			f.Losses = int64(c.Losses - r.cables[h].Losses)
		}
		if !f.Gone && !c.Up {
			f.Losses = max(f.Losses, 1) // where the kernel does not count
		}
		r.facts.Cables = append(r.facts.Cables, f)
	}
	return nil
}
