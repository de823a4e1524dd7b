package traffic

import (
	"maps"
	"slices"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Mixture returns the sizes of all messages that the streams of a valid scenario send
// to the network, replies included, as rows of a distribution by the step rule, nil if
// they send none. Streams count by how many messages a second they send: an outcast
// sends as fast as its link, and a list as fast as its link for as long as that takes.
func Mixture(f *topo.Fabric, streams []Stream) []Point {
	perSecond := map[units.Bytes]float64{}
	for i := range streams {
		s := &streams[i]
		rows := s.Distribution().points
		if len(rows) == 0 {
			continue // a list without messages
		}
		rate := s.messageRate(f)
		before := 0.0
		for _, p := range rows {
			perSecond[p.Size] += rate * (p.Cumulative - before)
			before = p.Cumulative
		}
		if s.Reply > 0 {
			perSecond[s.Reply] += rate
		}
	}
	sum := 0.0
	sizes := slices.Sorted(maps.Keys(perSecond))
	points := make([]Point, len(sizes))
	for i, size := range sizes {
		sum += perSecond[size]
		points[i] = Point{Size: size, Cumulative: sum}
	}
	for i := range points {
		points[i].Cumulative /= sum
	}
	return points
}

// messageRate returns how many messages a second all senders of a stream send.
func (s *Stream) messageRate(f *topo.Fabric) float64 {
	from, _ := s.ends(f)
	if s.Pattern == PatternIncast {
		return float64(s.FanIn) * 1e9 / s.period(f)
	}
	rate := 0.0
	for _, h := range from {
		if s.Pattern == PatternOutcast || s.Pattern == PatternList {
			rate += float64(f.Uplink(h).Rate)
		} else {
			rate += s.payloadRate(f, h)
		}
	}
	return rate / 8 / s.Distribution().Mean(s.sampling())
}
