//go:build linux

package real

import (
	"cmp"
	"context"

	"sirdbed/emu"
	"sirdbed/emu/fabric"
	"sirdbed/topo/units"
)

// A Standing is what a fabric without traffic is like.
type Standing struct {
	Dilation units.Dilation
	Features emu.Features
}

// Up builds the fabric of an experiment, without its hosts' processes and traffic, calls
// up, and keeps it up until ctx ends. Where the experiment states no dilation it is 1:
// programs live by the kernel's clock.
func (e *Engine) Up(ctx context.Context, x *emu.Experiment, up func(*fabric.Fabric, Standing) error) error {
	own := *x
	own.Dilation = cmp.Or(x.Dilation, 1)
	r := &run{engine: e, x: &own, facts: &emu.Facts{}}
	config, err := r.plan()
	if err != nil {
		return err
	}
	f, err := fabric.Build(ctx, r.topology, config)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := up(f, Standing{Dilation: r.facts.Dilation, Features: f.Features()}); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
