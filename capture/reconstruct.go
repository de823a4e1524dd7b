package capture

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A Reconstruction is the queues of a captured switch.
type Reconstruction struct {
	Node       *topo.Node
	Ports      []*PortQueue // in the order of Node.Ports
	Unknown    int          // packets that never left, and that several ports lead on
	Unreadable int          // frames without an IPv4 header
	Frames     int
	From, To   units.Time // of the first and the last frame
}

// Reconstruct rebuilds the queues of every port of a switch from its capture:
// what came in against what went out, packet by packet. A packet belongs to
// the port through which it left, so nothing is assumed about ECMP; one that
// never left belongs to the port that its destination is routed to, if there is
// only one. If an error ends the capture, the queues that the frames before it
// show are returned with it.
func Reconstruct(f *topo.Fabric, node *topo.Node, frames iter.Seq2[Frame, error]) (*Reconstruction, error) {
	if node.Kind == topo.Host {
		return nil, fmt.Errorf("%s is a host: what waits in it passes no interface before it leaves", node.Name)
	}
	var seen []sighting
	unreadable := 0
	var cut error
	for fr, err := range frames {
		if err != nil {
			cut = err
			break
		}
		if s, ok := sight(&fr); ok {
			seen = append(seen, s)
		} else {
			unreadable++
		}
	}
	r := rebuildFrom(f, node, seen)
	r.Unreadable = unreadable
	if len(seen) == 0 {
		return r, errors.Join(cut, fmt.Errorf("the capture of %s has no packets", node.Name))
	}
	return r, cut
}

// sight is a frame as a sighting of its packet.
func sight(fr *Frame) (s sighting, ok bool) {
	key, priority, ok := identify(fr.Data)
	return sighting{key: key, priority: priority, at: fr.At, port: fr.Port.ID, out: fr.Out, len: fr.Len}, ok
}

// rebuildFrom rebuilds the queues of a switch from what was seen there, which it sorts.
func rebuildFrom(f *topo.Fabric, node *topo.Node, seen []sighting) *Reconstruction {
	r := rebuild{Reconstruction: &Reconstruction{Node: node}, f: f, pending: map[identity][]arrival{}}
	for _, id := range node.Ports {
		r.Ports = append(r.Ports, &PortQueue{Port: &f.Ports[id]})
	}
	r.changes = make([][]change, len(r.Ports))
	r.lastIn = make([][8]int, len(r.Ports))

	// Frames are written in the order in which they are seen: a departure may come
	// before its own arrival in the file, but never by its timestamp.
	slices.SortStableFunc(seen, func(a, b sighting) int {
		if c := cmp.Compare(a.at, b.at); c != 0 {
			return c
		}
		return cmp.Compare(b2i(a.out), b2i(b.out))
	})
	r.Frames = len(seen)
	if len(seen) == 0 {
		return r.Reconstruction
	}
	r.From, r.To = seen[0].at, seen[len(seen)-1].at
	for i := range seen {
		r.see(i, &seen[i])
	}
	r.finish()
	return r.Reconstruction
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

type sighting struct {
	key      identity
	priority uint8
	out      bool
	port     topo.PortID
	at       units.Time
	len      int
}

type arrival struct {
	order    int // index among all sightings
	at       units.Time
	len      int
	priority uint8
}

type change struct {
	at      units.Time
	packets int
	bytes   int64
}

type rebuild struct {
	*Reconstruction
	f       *topo.Fabric
	pending map[identity][]arrival
	changes [][]change
	lastIn  [][8]int // by port and priority: order of the latest arrival that left, plus 1
}

func (r *rebuild) slot(p topo.PortID) int { return slices.Index(r.Node.Ports, p) }

func (r *rebuild) see(order int, s *sighting) {
	if !s.out {
		r.pending[s.key] = append(r.pending[s.key], arrival{order, s.at, s.len, s.priority})
		return
	}
	i := r.slot(s.port)
	q := r.Ports[i]
	q.Left = append(q.Left, Departure{s.at, s.len})
	waiting := r.pending[s.key]
	if len(waiting) == 0 {
		q.Local++
		return
	}
	a := waiting[0]
	if len(waiting) == 1 {
		delete(r.pending, s.key)
	} else {
		r.pending[s.key] = waiting[1:]
	}
	q.Packets++
	r.lastIn[i][a.priority] = max(r.lastIn[i][a.priority], a.order+1)
	r.changes[i] = append(r.changes[i], change{a.at, 1, int64(a.len)}, change{s.at, -1, -int64(a.len)})
}

// finish accounts for the packets that never left, and adds the changes up.
func (r *rebuild) finish() {
	for key, list := range r.pending {
		i, ok := r.portOf(&key)
		for _, a := range list {
			switch {
			case !ok:
				r.Unknown++
			case r.Ports[i].Packets == 0 && len(r.Ports[i].Left) == 0:
				// Nothing was seen to leave through the port, so nothing is known of it.
				r.Unknown++
			case a.order < r.lastIn[i][a.priority]:
				r.Ports[i].Lost++ // a queue is first in, first out
			default:
				r.Ports[i].Waiting++
				r.changes[i] = append(r.changes[i], change{a.at, 1, int64(a.len)})
			}
		}
	}
	for i, q := range r.Ports {
		q.Series = depths(r.changes[i])
	}
}

// portOf returns the only port that leads to a packet's destination.
func (r *rebuild) portOf(key *identity) (int, bool) {
	for _, route := range r.f.Routes(r.Node.ID) {
		if route.Prefix.Contains(key.dst) {
			return r.slot(route.Ports[0]), len(route.Ports) == 1
		}
	}
	return 0, false
}

func depths(changes []change) []Depth {
	sort.SliceStable(changes, func(i, j int) bool { return changes[i].at < changes[j].at })
	var series []Depth
	var now Depth
	for i, c := range changes {
		now.At = c.at
		now.Packets += c.packets
		now.Bytes += c.bytes
		if i+1 < len(changes) && changes[i+1].at == c.at {
			continue // a packet that leaves as it arrives did not wait
		}
		series = append(series, now)
	}
	return series
}
