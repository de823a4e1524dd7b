package fault

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// A Timeline is what happens to links and hosts in the course of a run, in any order.
type Timeline []Event

// ends cuts "leaf1>h1-3" or "leaf1<>h1-3", which is both directions.
func ends(link string) (from, to string, both, ok bool) {
	from, to, ok = strings.Cut(link, ">")
	from, both = strings.CutSuffix(from, "<")
	return from, to, both, ok
}

// Validate reports the first event that cannot happen in a fabric, or not before the
// run's end, as a *topo.SpecError whose field is such as "[2].link".
func (t Timeline) Validate(f *topo.Fabric, end units.Time) error {
	for i := range t {
		e := &t[i]
		field, reason := e.wrong(f, end)
		if reason == "" {
			reason = t.conflict(f, i)
		}
		if reason != "" {
			return &topo.SpecError{Field: strings.TrimSuffix(fmt.Sprintf("[%d].%s", i, field), "."), Reason: reason}
		}
	}
	return nil
}

// wrong returns the field of an event that is at fault, and why; no reason for one that
// is fine by itself.
func (e *Event) wrong(f *topo.Fabric, end units.Time) (field, reason string) {
	if err, ok := errors.AsType[*limit.Error](limit.Event.Check(*e)); ok {
		return err.Field, err.Reason
	}
	if !slices.Contains(Kinds, e.Do) {
		return "do", "missing: say what happens, such as blackhole"
	}
	if e.Do.ofHost() {
		if _, ok := f.Host(e.Host); !ok {
			return "host", fmt.Sprintf("%s is for a host, and none is called %q: want a name such as %s", e.Do, e.Host,
				f.HostName(0))
		}
	} else if len(e.Ports(f)) == 0 {
		return "link", fmt.Sprintf("%s is for a link, and none is called %q: want a host's (%s), both ends of one "+
			"(%s<>%s) or one direction of it (%s)", e.Do, e.Link, f.HostName(0), f.Nodes[f.LeafOf(0)].Name,
			f.HostName(0), f.Downlink(0).Name)
	}
	needs, may := e.Do.takes()
	for _, field := range []struct {
		name  string
		given bool
	}{
		{"for", e.For != 0}, {"restart", e.Restart != 0}, {"rate", e.Rate != 0}, {"delay", e.Delay != 0},
		{"share", e.Share != 0}, {"host", e.Host != "" && !e.Do.ofHost()}, {"link", e.Link != "" && e.Do.ofHost()},
	} {
		switch needed := slices.Contains(needs, field.name); {
		case field.given && !needed && !slices.Contains(may, field.name):
			return field.name, fmt.Sprintf("has no meaning for %s", e.Do)
		case !field.given && needed:
			return field.name, fmt.Sprintf("missing: %s needs it", e.Do)
		}
	}
	if e.At >= end {
		return "at", fmt.Sprintf("%v: the run is over at %v", e.At, end)
	}
	return e.worse(f)
}

// worse checks that a link's rate or delay changes for the worse: what is computed from
// the topology, such as unloaded latencies, stays the best there is.
func (e *Event) worse(f *topo.Fabric) (field, reason string) {
	for _, id := range e.Ports(f) {
		switch p := &f.Ports[id]; {
		case e.Do == Rate && e.Rate > p.Rate:
			return "rate", fmt.Sprintf("%v is more than %s has, %v: a link gets slower", e.Rate, p.Name, p.Rate)
		case e.Do == Delay && e.Delay < p.Delay:
			return "delay", fmt.Sprintf("%v is less than %s has, %v: a link gets longer", e.Delay, p.Name, p.Delay)
		}
	}
	return "", ""
}

// conflict finds an earlier event that does the same to the same link or host at the same
// time as the event i.
func (t Timeline) conflict(f *topo.Fabric, i int) (reason string) {
	e := &t[i]
	for j := range t[:i] {
		o := &t[j]
		if e.At >= o.End() || o.At >= e.End() {
			continue
		}
		if same := e.Do == o.Do || e.Do.ofHost() && o.Do.ofHost(); !same || e.Host != o.Host {
			continue
		}
		shared := slices.ContainsFunc(e.Ports(f), func(p topo.PortID) bool { return slices.Contains(o.Ports(f), p) })
		if e.Do.ofHost() || shared {
			return fmt.Sprintf("overlaps with entry %d: %v", j+1, o)
		}
	}
	return ""
}

// Corrupts reports whether frames are damaged at any time.
func (t Timeline) Corrupts() bool {
	return slices.ContainsFunc(t, func(e Event) bool { return e.Do == Corrupt })
}

// A State is what a timeline does to one direction of a link at a time. The zero value
// leaves it alone.
type State struct {
	Cut   bool                // what enters is lost
	Down  bool                // Cut, and nothing waits either
	Rate  units.BitsPerSecond // of the link; 0: the topology's
	Extra units.Time          // propagation beyond the topology's

	Random Config // what happens to a share of the frames
}

// A Step is the State of one direction of a link from a time on.
type Step struct {
	At units.Time
	State
}

// Steps returns what the timeline does to one direction of a link, in order of time;
// nil where it does nothing. The timeline must be valid.
func (t Timeline) Steps(f *topo.Fabric, port topo.PortID) (steps []Step) {
	var own []*Event
	var times []units.Time
	for i := range t {
		e := &t[i]
		if e.Do.ofHost() || !slices.Contains(e.Ports(f), port) {
			continue
		}
		own = append(own, e)
		times = append(times, e.At)
		if end := e.End(); end != units.Never {
			times = append(times, end)
		}
	}
	slices.Sort(times)
	for _, at := range slices.Compact(times) {
		s := Step{At: at}
		for _, e := range own {
			if e.At <= at && at < e.End() {
				s.add(e, &f.Ports[port])
			}
		}
		steps = append(steps, s)
	}
	return steps
}

// add adds what an event does.
func (s *State) add(e *Event, p *topo.Port) {
	switch e.Do {
	case Blackhole:
		s.Cut = true
	case Down:
		s.Cut, s.Down = true, true
	case Rate:
		s.Rate = e.Rate
	case Delay:
		s.Extra = e.Delay - p.Delay
	case Drop:
		s.Random.Drop = e.Share
	case Duplicate:
		s.Random.Duplicate = e.Share
	case Reorder:
		s.Random.Reorder, s.Random.ReorderDelay = e.Share, e.Delay
	case Corrupt:
		s.Random.Corrupt = e.Share
	}
}

// PauseFrames is how many frames a paused host takes in, as a NIC's ring does. The rest
// are lost.
const PauseFrames = 4096

// An Outage is a time in which a host does nothing: it is paused, or dead.
type Outage struct {
	From, To units.Time // To is units.Never if it does not start again
	Dead     bool       // its state is lost
}

// Outages returns those of a host, in order of time.
func (t Timeline) Outages(f *topo.Fabric, h topo.HostID) (list []Outage) {
	for i := range t {
		if e := &t[i]; e.Do.ofHost() && e.Host == f.HostName(h) {
			list = append(list, Outage{e.At, e.End(), e.Do == Kill})
		}
	}
	slices.SortFunc(list, func(a, b Outage) int { return cmp.Compare(a.From, b.From) })
	return list
}
