package traffic

import (
	"math"
	"math/rand/v2"
	"slices"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

func (s *Stream) validatePoisson(f *topo.Fabric) error {
	if err := s.oneOf("rate", "load"); err != nil {
		return err
	}
	if err := s.oneOf("size", "sizes"); err != nil {
		return err
	}
	if s.Sizes != "" {
		if _, err := Workload(s.Sizes); err != nil {
			return fieldError("sizes", "%v", err)
		}
	}
	if !slices.Contains([]Sampling{"", SamplingLog, SamplingStep}, s.Sampling) {
		return fieldError("sampling", "%q: want log or step", s.Sampling)
	}
	if s.Sampling != "" && s.Sizes == "" {
		return fieldError("sampling", "all messages are of size %v: there is nothing to sample", s.Size)
	}
	if !slices.Contains([]Arrivals{"", ArrivalsPoisson, ArrivalsReleased}, s.Arrivals) {
		return fieldError("arrivals", "%q: want poisson or released", s.Arrivals)
	}
	if s.Arrivals == ArrivalsReleased && s.Sizes == "" {
		return fieldError("arrivals", "released ties sizes to gaps, and all messages are of size %v", s.Size)
	}
	return s.withinLinks(f)
}

// poisson draws exponential gaps, sizes and uniform receivers.
type poisson struct {
	gaps, sizes, targets *rand.Rand

	clock     float64 // next arrival in ns; a float so that rounding does not add up
	gap       float64 // mean, ns
	dist      *Distribution
	rule      Sampling
	receivers []topo.HostID
	count     int
}

func (s *Stream) poisson(f *topo.Fabric, seed uint64, self topo.HostID, end units.Time) (generator, error) {
	from, to := s.ends(f)
	if !slices.Contains(from, self) {
		return nil, nil
	}
	p := &poisson{
		gaps:      draws(seed, s.Name, self, "gap"),
		sizes:     draws(seed, s.Name, self, "size"),
		targets:   draws(seed, s.Name, self, "target"),
		clock:     float64(s.Start),
		gap:       s.gap(f, self),
		dist:      s.Distribution(),
		rule:      s.sampling(),
		receivers: others(to, self),
	}
	if s.Arrivals == ArrivalsReleased {
		// The same numbers as the gaps: draw n makes the nth gap and the size
		// of the message that ends it.
		p.sizes = draws(seed, s.Name, self, "gap")
	}
	p.advance()
	return p, s.countable(p.gap, end)
}

// advance adds a gap: longer for a larger draw, as sizes are.
func (p *poisson) advance() { p.clock -= float64(p.gap * math.Log1p(-p.gaps.Float64())) }

func (p *poisson) at() units.Time { return nanoseconds(p.clock) }

func (p *poisson) pop() (Arrival, int) {
	a := Arrival{
		At:   p.at(),
		Dst:  p.receivers[p.targets.IntN(len(p.receivers))],
		Size: p.dist.Sample(p.sizes.Float64(), p.rule),
	}
	p.advance()
	p.count++
	return a, p.count - 1
}
