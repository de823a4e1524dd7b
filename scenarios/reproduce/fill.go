package reproduce

import (
	"fmt"
	"slices"
	"strconv"

	"sirdbed/capture/points"
	"sirdbed/scenarios/sweep"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// slowdownUpTo is the highest load at which a figure has slowdown. Above it only the warm-up and
// the window are read, and the drain matters to no figure: ExpressPass, which falls far behind
// there, would work on its backlog all through a long one, for 40 % of the point's time. What
// other protocols have left over is soon delivered.
const (
	slowdownUpTo = 0.7
	shortDrain   = 10 * units.Microsecond
)

// fill sets a point's warm-up and window by its workload and load.
func (j *Job) fill(o *Options) error {
	x := &j.Experiment
	i := slices.IndexFunc(x.Streams, func(s traffic.Stream) bool { return s.Name == "all" })
	if i < 0 {
		return fmt.Errorf("%s has no stream called all", j.Name())
	}
	all := &x.Streams[i]
	if j.Arrivals == "released" && x.Protocol == "dcpim" {
		asInItsSimulator(x, all)
	}
	fabric, err := topo.New(x.Topology)
	if err != nil {
		return err
	}
	load, err := strconv.ParseFloat(j.Label("load"), 64)
	if err != nil {
		load = all.Load
	}
	messages := o.Scale.samples[all.Sizes]
	if o.Samples > 0 {
		messages *= o.Samples
	}
	if !j.Full && o.Scale.thirds {
		messages /= 3
	}
	x.Warmup = o.Scale.warmUp(j.Study, all.Sizes, load)
	if x.Duration, err = window(fabric, all, messages); err != nil {
		return err
	}
	x.Drain = x.Warmup
	if x.Protocol == "xpass" && load > slowdownUpTo {
		x.Drain = shortDrain
	}
	if j.Address, err = points.AddressOf(j.Engine, x); err != nil {
		return err
	}
	j.Cost, err = sweep.Cost(x)
	return err
}
