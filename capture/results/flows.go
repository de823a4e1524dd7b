package results

import (
	"slices"

	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// flows is the traffic of an experiment, as far as its size matters: payload and
// messages, replies among them.
type flows struct {
	fabric   *topo.Fabric
	messages float64
	sent     []flow // by host
	received []flow
}

// A flow is what a host sends or receives in all.
type flow struct{ messages, bytes float64 }

func (f *flow) add(messages, bytes float64) {
	f.messages += messages
	f.bytes += bytes
}

func newFlows(f *topo.Fabric, x *emu.Experiment) (*flows, error) {
	offered, err := traffic.OfferedLoad(f, x.Streams)
	if err != nil {
		return nil, err
	}
	all := &flows{fabric: f, sent: make([]flow, len(f.Hosts)), received: make([]flow, len(f.Hosts))}
	end := x.Warmup + x.Duration
	for i := range x.Streams {
		s := &x.Streams[i]
		from, to := ends(f, s.From), ends(f, s.To)
		if s.Pattern == traffic.PatternList {
			all.list(s, end)
			continue
		}
		until := end
		if s.Stop != 0 {
			until = min(until, s.Stop)
		}
		span := max(0, until-s.Start).Seconds()
		rate := float64(offered[i].Rate)
		if s.Pattern == traffic.PatternOutcast { // as fast as its senders' links
			for _, h := range from {
				rate += float64(f.Uplink(h).Rate)
			}
		}
		bytes := rate / 8 * span
		all.spread(from, to, bytes/offered[i].MeanSize, bytes, float64(s.Reply))
	}
	return all, nil
}

// ends returns hosts by name; none given are all of them.
func ends(f *topo.Fabric, names []string) (hosts []topo.HostID) {
	for _, name := range names {
		if h, ok := f.Host(name); ok {
			hosts = append(hosts, h)
		}
	}
	if len(hosts) == 0 { // none, or [all]
		return f.Hosts
	}
	return hosts
}

// spread adds messages from all senders to all receivers alike, with replies of
// a size.
func (a *flows) spread(from, to []topo.HostID, messages, bytes, reply float64) {
	replies := 0.0
	if reply > 0 {
		replies = messages
	}
	a.messages += messages + replies
	for _, h := range from {
		a.sent[h].add(messages/float64(len(from)), bytes/float64(len(from)))
		a.received[h].add(replies/float64(len(from)), replies*reply/float64(len(from)))
	}
	for _, h := range to {
		a.received[h].add(messages/float64(len(to)), bytes/float64(len(to)))
		a.sent[h].add(replies/float64(len(to)), replies*reply/float64(len(to)))
	}
}

// list adds the messages of a file that come before the end.
func (a *flows) list(s *traffic.Stream, end units.Time) {
	for _, m := range s.Messages {
		src, _ := a.fabric.Host(m.Src)
		dst, _ := a.fabric.Host(m.Dst)
		if s.Start+m.At < end {
			a.spread([]topo.HostID{src}, []topo.HostID{dst}, 1, float64(m.Size), float64(m.Reply))
		}
	}
}

// packets is about how many packets with payload a flow is.
func (f flow) packets(mss units.Bytes) float64 { return f.messages + f.bytes/float64(mss) }

// passing is about how many packets with payload a capture at a node or at a
// port sees. Traffic between racks takes every spine alike.
func (a *flows) passing(name string, mss units.Bytes) (total float64) {
	f := a.fabric
	away := 1 - float64(f.Spec.HostsPerLeaf)/float64(len(f.Hosts)) // share that leaves its rack
	perSpine := away / float64(max(1, f.Spec.Spines))
	link := func(h topo.HostID) float64 { return a.sent[h].packets(mss) + a.received[h].packets(mss) }
	if node, ok := f.Node(name); ok {
		switch node.Kind {
		case topo.Host:
			return link(topo.HostID(node.ID))
		case topo.Leaf: // each comes in and goes out
			for _, h := range a.rack(node.ID) {
				total += 2 * (a.sent[h].packets(mss) + a.received[h].packets(mss)*away)
			}
		case topo.Spine:
			for _, h := range f.Hosts {
				total += 2 * a.sent[h].packets(mss) * perSpine
			}
		}
		return total
	}
	i := slices.IndexFunc(f.Ports, func(p topo.Port) bool { return p.Name == name })
	if i < 0 {
		return 0
	}
	lower := min(f.Ports[i].Node, f.Ports[i].Peer) // hosts come before leaves, leaves before spines
	if !f.Ports[i].Core {
		return link(topo.HostID(lower))
	}
	for _, h := range a.rack(lower) {
		total += link(h) * perSpine
	}
	return total
}

// rack returns a leaf's hosts.
func (a *flows) rack(leaf topo.NodeID) []topo.HostID {
	return slices.DeleteFunc(slices.Clone(a.fabric.Hosts),
		func(h topo.HostID) bool { return a.fabric.LeafOf(h) != leaf })
}
