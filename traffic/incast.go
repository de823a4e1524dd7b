package traffic

import (
	"math/rand/v2"
	"slices"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// period returns the time in ns from one burst of an incast stream to the
// next. With load, bursts make up that fraction of what all hosts' links carry
// (README, Incast).
func (s *Stream) period(f *topo.Fabric) float64 {
	if s.Interval != 0 {
		return float64(s.Interval)
	}
	return float64(s.Size) * float64(s.FanIn) * 8e9 / (s.Load * hostRates(f))
}

// hostRates returns the sum of the rates of all hosts' links, in bit/s.
func hostRates(f *topo.Fabric) (sum float64) {
	for _, h := range f.Hosts {
		sum += float64(f.Uplink(h).Rate)
	}
	return sum
}

func (s *Stream) validateIncast(f *topo.Fabric) error {
	if err := s.sizeIsGiven(); err != nil {
		return err
	}
	if err := s.oneOf("interval", "load"); err != nil {
		return err
	}
	from, to := s.ends(f)
	if s.FanIn < 1 {
		return fieldError("fan_in", "%d: an incast burst needs at least 1 sender", s.FanIn)
	}
	sends := make(map[topo.HostID]bool, len(from))
	for _, h := range from {
		sends[h] = true
	}
	for _, receiver := range to {
		senders := len(from)
		if sends[receiver] {
			senders-- // it does not send to itself
		}
		if senders < s.FanIn {
			return fieldError("fan_in", "%d senders in a burst to %s, which has %d to choose from", s.FanIn,
				f.HostName(receiver), senders)
		}
	}
	if rate := float64(s.Size) * float64(s.FanIn) * 8e9 / s.period(f); rate > hostRates(f) && !s.Overload {
		return fieldError(s.pace(),
			"bursts of %.4g Gbps of payload, when all hosts' links together carry %.4g: set overload if that is meant",
			rate/1e9, hostRates(f)/1e9)
	}
	return nil
}

// incast draws the same sequence of bursts at every host and keeps those in
// which self sends.
type incast struct {
	rng    *rand.Rand
	self   topo.HostID
	start  float64 // first burst, ns
	period float64 // ns
	end    units.Time
	to     []topo.HostID
	from   []topo.HostID // reordered by every burst
	fanIn  int
	size   units.Bytes

	bursts   int // drawn so far; the last of them is the one to come
	receiver topo.HostID
	count    int
}

func (s *Stream) incast(f *topo.Fabric, seed uint64, self topo.HostID, end units.Time) (generator, error) {
	from, to := s.ends(f)
	if !slices.Contains(from, self) || len(others(to, self)) == 0 {
		return nil, nil
	}
	g := &incast{
		rng:    draws(seed, s.Name, everyHost, "burst"),
		self:   self,
		start:  float64(s.Start),
		period: s.period(f),
		end:    end,
		to:     to,
		from:   slices.Clone(from),
		fanIn:  s.FanIn,
		size:   s.Size,
	}
	if err := s.countable(g.period, end); err != nil {
		return nil, err
	}
	g.advance()
	return g, nil
}

// advance draws bursts until self is in one, or none is left before the end.
func (g *incast) advance() {
	for {
		g.bursts++
		if g.at() >= g.end || g.burst() {
			return
		}
	}
}

// burst draws a receiver and fanIn distinct senders, the receiver left out,
// and reports whether self is one of them. It starts from the order that the last
// burst left, which is as random as any and the same at all hosts.
func (g *incast) burst() (sends bool) {
	g.receiver = g.to[g.rng.IntN(len(g.to))]
	senders := g.from
	if i := slices.Index(senders, g.receiver); i >= 0 {
		last := len(senders) - 1
		senders[i], senders[last] = senders[last], senders[i]
		senders = senders[:last]
	}
	for i := range g.fanIn {
		j := i + g.rng.IntN(len(senders)-i)
		senders[i], senders[j] = senders[j], senders[i]
		sends = sends || senders[i] == g.self
	}
	return sends
}

func (g *incast) at() units.Time {
	return nanoseconds(g.start + float64(float64(g.bursts-1)*g.period))
}

func (g *incast) pop() (Arrival, int) {
	a := Arrival{At: g.at(), Dst: g.receiver, Size: g.size, Incast: true}
	g.advance()
	g.count++
	return a, g.count - 1
}
