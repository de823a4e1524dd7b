package traffic

import (
	"slices"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

func (s *Stream) validateFixed(f *topo.Fabric) error {
	if err := s.sizeIsGiven(); err != nil {
		return err
	}
	if err := s.oneOf("rate", "load", "interval"); err != nil {
		return err
	}
	if !slices.Contains([]Phase{"", PhaseRandom, PhaseZero}, s.Phase) {
		return fieldError("phase", "%q: want random or zero", s.Phase)
	}
	return s.withinLinks(f)
}

// fixed sends equal messages at equal gaps, to its receivers in turn.
type fixed struct {
	begin   float64 // first arrival, ns
	gap     float64 // ns
	size    units.Bytes
	targets []topo.HostID
	count   int
}

// fixed makes the generator of a fixed stream. Senders that are receivers too
// begin with the one listed after themselves, so that with phase zero they
// send to one another in permutations rather than all to the same.
func (s *Stream) fixed(f *topo.Fabric, seed uint64, self topo.HostID, end units.Time) (generator, error) {
	from, to := s.ends(f)
	if !slices.Contains(from, self) {
		return nil, nil
	}
	g := &fixed{begin: float64(s.Start), gap: s.gap(f, self), size: s.Size, targets: to}
	if i := slices.Index(to, self); i >= 0 {
		g.targets = slices.Concat(to[i+1:], to[:i])
	}
	if s.Phase != PhaseZero {
		g.begin += float64(draws(seed, s.Name, self, "phase").Float64() * g.gap)
	}
	return g, s.countable(g.gap, end)
}

func (g *fixed) at() units.Time { return nanoseconds(g.begin + float64(float64(g.count)*g.gap)) }

func (g *fixed) pop() (Arrival, int) {
	a := Arrival{At: g.at(), Dst: g.targets[g.count%len(g.targets)], Size: g.size}
	g.count++
	return a, g.count - 1
}
