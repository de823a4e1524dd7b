package traffic

import (
	"slices"

	"sirdbed/topo"
)

// Peers lists the hosts that self may send to, messages or replies, in order. It
// fails as NewSource does.
func Peers(f *topo.Fabric, streams []Stream, self topo.HostID) ([]topo.HostID, error) {
	if err := Validate(f, streams); err != nil {
		return nil, err
	}
	found := map[topo.HostID]bool{}
	for i := range streams {
		s := &streams[i]
		for _, m := range s.Messages {
			src, _ := f.Host(m.Src)
			dst, _ := f.Host(m.Dst)
			found[dst] = found[dst] || src == self
			found[src] = found[src] || dst == self && (m.Reply > 0 || s.Reply > 0)
		}
		if s.Pattern == PatternList {
			continue
		}
		from, to := s.ends(f)
		if slices.Contains(from, self) {
			for _, h := range to {
				found[h] = true
			}
		}
		if s.Reply > 0 && slices.Contains(to, self) {
			for _, h := range from {
				found[h] = true
			}
		}
	}
	var list []topo.HostID
	for _, h := range f.Hosts {
		if found[h] && h != self {
			list = append(list, h)
		}
	}
	return list, nil
}
