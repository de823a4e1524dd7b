package topo

import "sirdbed/topo/units"

// A Loop is what a credit loop took on the machine that carries a fabric, its hosts
// included. The zero Loop has not been measured.
type Loop struct {
	Usual units.Time `json:"usual"` // the 90th percentile
	Tail  units.Time `json:"tail"`  // the 99.9th
}

// What a measured loop may make of the computed one. Windows of more than that would
// be the machine's, and no longer the network's.
const (
	mostLoops              = 4
	mostWindow units.Bytes = 64 << 10
)

// WithLoop returns a copy of the fabric that knows what a credit loop took. It shares
// all else with f.
func (f *Fabric) WithLoop(l Loop) *Fabric {
	known := *f
	known.measured = l
	return &known
}

// Loop returns what a credit loop took on the machine.
func (f *Fabric) Loop() Loop { return f.measured }

// Measured returns the fabric as its hosts find it: a copy whose LongestLoop and BDP are
// those of the measured loop where that is longer than the computed one, but at most
// the larger of four times the computed ones and 64 KB. Without a measured loop it is f.
func (f *Fabric) Measured() *Fabric {
	if f.measured.Usual <= f.loop {
		return f
	}
	rate := f.Spec.HostRate
	seen := *f
	seen.loop = min(f.measured.Usual, max(mostLoops*f.loop, rate.TimeFor(mostWindow)))
	// Of receivers whose links are faster than most, the BDP is in proportion.
	seen.bdp = units.Bytes(float64(f.bdp) * float64(seen.loop) / float64(f.loop))
	seen.bdp = max(f.bdp, min(seen.bdp, max(mostLoops*f.bdp, mostWindow)))
	seen.bdp += f.FullFrame() - 1 // BDP rounds down, and what is measured is to be filled
	return &seen
}
