package fault

import (
	"fmt"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// An Event is one entry of a Timeline: what happens to a link or a host, and when.
type Event struct {
	// When it begins, in nominal time.
	At units.Time `yaml:"at" json:"at"`
	// How long it lasts, to the end of the run unless given. A killed host has restart
	// instead.
	For units.Time `yaml:"for,omitempty" json:"for,omitempty"`
	// The link: a host's by its name (h1-3), any by both ends (leaf1<>spine1), one direction
	// by its port (leaf1>h1-3).
	Link string `yaml:"link,omitempty" json:"link,omitempty"`
	// The host that is killed or paused.
	Host string `yaml:"host,omitempty" json:"host,omitempty"`
	// What happens. blackhole: what enters the link is lost. down: the link has no carrier,
	// and what waits for it is lost too. rate, delay: those of the link change. drop,
	// duplicate, reorder, corrupt: a share of its frames suffer. kill: the host loses all of
	// its state. pause: the host does nothing.
	Do Kind `yaml:"do" json:"do"`

	// Rate of the link meanwhile, at most the topology's.
	Rate units.BitsPerSecond `yaml:"rate,omitempty" json:"rate,omitempty"`
	// Propagation delay of the link meanwhile, at least the topology's; of frames that are
	// reordered the longest delay, 10us unless given.
	Delay units.Time `yaml:"delay,omitempty" json:"delay,omitempty"`
	// Share of the frames that are dropped, duplicated, reordered or corrupted.
	Share float64 `yaml:"share,omitempty" json:"share,omitempty"`
	// How long after it was killed a host starts again, as another incarnation; never unless
	// given.
	Restart units.Time `yaml:"restart,omitempty" json:"restart,omitempty"`
}

// A Kind is what an Event does.
type Kind string

// The kinds of events: of links, and the last two of hosts.
const (
	Blackhole Kind = "blackhole"
	Down      Kind = "down"
	Rate      Kind = "rate"
	Delay     Kind = "delay"
	Drop      Kind = "drop"
	Duplicate Kind = "duplicate"
	Reorder   Kind = "reorder"
	Corrupt   Kind = "corrupt"
	Kill      Kind = "kill"
	Pause     Kind = "pause"
)

// Kinds lists the kinds of events in the order in which they are shown.
var Kinds = []Kind{Blackhole, Down, Rate, Delay, Drop, Duplicate, Reorder, Corrupt, Kill, Pause}

// ofHost reports whether events of the kind happen to hosts.
func (k Kind) ofHost() bool { return k == Kill || k == Pause }

// random reports whether events of the kind befall a share of the frames.
func (k Kind) random() bool { return k == Drop || k == Duplicate || k == Reorder || k == Corrupt }

// End returns when an event is over, units.Never if it is not.
func (e *Event) End() units.Time {
	span := e.For
	if e.Do == Kill {
		span = e.Restart
	}
	if span == 0 {
		return units.Never
	}
	return e.At + span
}

// Where is the link or the host that an event happens to.
func (e *Event) Where() string {
	if e.Do.ofHost() {
		return e.Host
	}
	return e.Link
}

// String is an event in words: "h1-3: rate 25Gbps from 1ms to 2ms".
func (e *Event) String() string {
	text := e.Where() + ": " + string(e.Do)
	switch {
	case e.Do == Rate:
		text += " " + e.Rate.String()
	case e.Do == Delay:
		text += " " + e.Delay.String()
	case e.Do.random():
		text += " " + percent(e.Share)
	}
	switch end := e.End(); {
	case e.Do == Kill && end != units.Never:
		return fmt.Sprintf("%s at %v, restart at %v", text, e.At, end)
	case e.Do == Kill:
		return fmt.Sprintf("%s at %v", text, e.At)
	case end == units.Never:
		return fmt.Sprintf("%s from %v", text, e.At)
	default:
		return fmt.Sprintf("%s from %v to %v", text, e.At, end)
	}
}

// Ports returns the directions of the event's link; none for an event of a host, and where
// the fabric has no such link.
func (e *Event) Ports(f *topo.Fabric) []topo.PortID {
	if h, ok := f.Host(e.Link); ok {
		return []topo.PortID{f.Uplink(h).ID, f.Downlink(h).ID}
	}
	from, to, both, ok := ends(e.Link)
	if !ok {
		return nil
	}
	a, here := f.Node(from)
	b, there := f.Node(to)
	if !here || !there {
		return nil
	}
	p, ok := f.PortBetween(a.ID, b.ID)
	switch {
	case !ok:
		return nil
	case both:
		return []topo.PortID{p, f.Ports[p].Reverse}
	}
	return []topo.PortID{p}
}
