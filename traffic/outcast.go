package traffic

import (
	"slices"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

func (s *Stream) validateOutcast(f *topo.Fabric) error {
	if err := s.sizeIsGiven(); err != nil {
		return err
	}
	return nil
}

// outcast keeps a number of messages on their way to each receiver that has
// joined: the testbed experiment of the paper's section 6.1.2 (README,
// Outcast).
type outcast struct {
	start, stagger units.Time
	size           units.Bytes
	outstanding    int
	receivers      []topo.HostID // in the order of joining

	opened  int         // first messages popped; receivers[opened/outstanding] joins next
	ready   []follower  // follow on completed messages, by time
	flying  map[int]int // index of each uncompleted message -> position of its receiver
	indexes int         // used so far
}

// A follower is a message that takes the place of a completed one.
type follower struct {
	at       units.Time
	receiver int // position in receivers
}

func (s *Stream) outcast(f *topo.Fabric, self topo.HostID) generator {
	from, to := s.ends(f)
	if !slices.Contains(from, self) {
		return nil
	}
	return &outcast{
		start: s.Start, stagger: s.Stagger, size: s.Size, outstanding: s.outstanding(),
		receivers: others(to, self), flying: map[int]int{},
	}
}

// joins returns when the next receiver's next first message arrives.
func (g *outcast) joins() units.Time {
	position := g.opened / g.outstanding
	if position == len(g.receivers) {
		return units.Never
	}
	return g.start + units.Time(position)*g.stagger
}

func (g *outcast) at() units.Time {
	if len(g.ready) > 0 {
		return min(g.joins(), g.ready[0].at)
	}
	return g.joins()
}

func (g *outcast) pop() (Arrival, int) {
	at, position := g.at(), g.opened/g.outstanding
	if at == g.joins() {
		g.opened++
	} else {
		position = g.ready[0].receiver
		g.ready = slices.Delete(g.ready, 0, 1)
	}
	index := g.indexes
	g.indexes++
	g.flying[index] = position
	return Arrival{At: at, Dst: g.receivers[position], Size: g.size}, index
}

func (g *outcast) completed(index int, now units.Time) {
	if position, ok := g.flying[index]; ok {
		delete(g.flying, index)
		g.ready = append(g.ready, follower{now, position})
	}
}
