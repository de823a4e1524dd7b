package model

import (
	"bytes"
	"cmp"
	"slices"

	"sirdbed/sirdnode/host"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// PortStats are the totals of one port.
type PortStats struct {
	Packets, WireBytes int64 // transmitted
	Drops              int64 // of full queues
	CreditDrops        int64 // of the credit class
	Lost               int64 // by Config.Lose and Config.Timeline
	Extra              int64 // made by Config.Timeline
	Marks              int64
}

// QueueStats describe what waited in a port, or in a switch's ports taken
// together. Packets in transmission do not count.
type QueueStats struct {
	Bytes units.Bytes // now
	Max   units.Bytes
	Mean  float64 // over time, bytes
}

// Host returns a host: its counts, and the state machine of its transport.
func (s *Sim) Host(h topo.HostID) *host.Host { return s.hosts[h].core }

// HostStats returns the totals of a host's receive path.
func (s *Sim) HostStats(h topo.HostID) HostStats { return s.hosts[h].stats }

// Port returns a port's totals.
func (s *Sim) Port(p topo.PortID) PortStats { return s.ports[p].stats }

// Queue returns a port's queue since the start, or the last ResetQueues.
func (s *Sim) Queue(p topo.PortID) QueueStats { return s.ports[p].queue.read(s.now) }

// NodeQueue returns the sum of a node's queues: the "ToR queue" of the papers.
func (s *Sim) NodeQueue(n topo.NodeID) QueueStats { return s.nodes[n].queue.read(s.now) }

// ResetQueues begins the maxima and means of Queue and NodeQueue anew.
func (s *Sim) ResetQueues() {
	for i := range s.ports {
		s.ports[i].queue.reset(s.now)
	}
	for i := range s.nodes {
		s.nodes[i].queue.reset(s.now)
	}
}

// InFlight returns the number of packets in the network: waiting, in
// transmission, on a link, or in a fault shim. Always
//
//	sent + extra = received + drops + lost + in flight
//
// where received leaves out what the shims dropped, and what hosts that were killed or
// paused did not take.
func (s *Sim) InFlight() int { return s.pool.live }

// Totals are sums over all hosts and ports.
type Totals struct {
	host.Counts
	HostStats HostStats
	PortStats PortStats
}

// Totals returns the sums over all hosts and ports.
func (s *Sim) Totals() Totals {
	var t Totals
	for _, h := range s.hosts {
		c := h.core.Counts()
		t.Sent += c.Sent
		t.Counts.Received += c.Received
		t.SentBytes += c.SentBytes
		t.ReceivedBytes += c.ReceivedBytes
		t.Payload += c.Payload
		t.WindowPayload += c.WindowPayload
		t.Mismatches += c.Mismatches
		t.Offered += c.Offered
		t.Delivered += c.Delivered
		t.Acked += c.Acked
		t.Failed += c.Failed
		t.HostStats.Received += h.stats.Received
		t.HostStats.Faults += h.stats.Faults
		t.HostStats.Extra += h.stats.Extra
		t.HostStats.Corrupt += h.stats.Corrupt
		t.HostStats.Foreign += h.stats.Foreign
	}
	for i := range s.ports {
		p := &s.ports[i].stats
		t.PortStats.Packets += p.Packets
		t.PortStats.WireBytes += p.WireBytes
		t.PortStats.Drops += p.Drops
		t.PortStats.CreditDrops += p.CreditDrops
		t.PortStats.Lost += p.Lost
		t.PortStats.Extra += p.Extra
		t.PortStats.Marks += p.Marks
	}
	return t
}

// offerStream is the stream that messages of Offer belong to. Scenarios have fewer.
const offerStream = traffic.MaxStreams - 1

// Offer hands a message to a host's transport now.
func (s *Sim) Offer(src, dst topo.HostID, size units.Bytes) {
	tag, err := traffic.MakeTag(offerStream, s.offered)
	if err != nil {
		panic(err)
	}
	s.offered++
	h := s.hosts[src]
	h.core.Offer(h.clock(s.now), dst, size, tag)
	h.pump(s.now)
}

// A Message is what became of a message. Times that were not reached are
// units.Never.
type Message struct {
	Src, Dst  topo.HostID
	ID        uint32
	Tag       traffic.Tag
	Size      units.Bytes
	Offered   units.Time
	Delivered units.Time
	Acked     units.Time
	Failed    units.Time
	Reason    string // why it failed
}

// Latency returns the time from its arrival at the sender to its delivery,
// units.Never if it was not delivered.
func (m *Message) Latency() units.Time {
	if m.Delivered == units.Never {
		return units.Never
	}
	return m.Delivered - m.Offered
}

// Messages returns all messages so far, in the order of their arrival at their
// senders.
func (s *Sim) Messages() []Message {
	type key struct {
		src, dst topo.HostID
		id       uint32
	}
	var list []Message
	at := map[key]int{}
	s.records(func(h topo.HostID, r record.Record) {
		if r.Kind == record.Offered {
			dst := topo.HostID(r.Peer)
			at[key{h, dst, r.ID}] = len(list)
			list = append(list, Message{
				Src: h, Dst: dst, ID: r.ID, Tag: traffic.Tag(r.Tag), Size: units.Bytes(r.N),
				Offered: r.At, Delivered: units.Never, Acked: units.Never, Failed: units.Never,
			})
		}
	})
	s.records(func(h topo.HostID, r record.Record) {
		switch r.Kind {
		case record.Delivered:
			if i, ok := at[key{topo.HostID(r.Peer), h, r.ID}]; ok {
				list[i].Delivered = r.At
			}
		case record.Acked:
			list[at[key{h, topo.HostID(r.Peer), r.ID}]].Acked = r.At
		case record.Failed:
			m := &list[at[key{h, topo.HostID(r.Peer), r.ID}]]
			m.Failed, m.Reason = r.At, r.Text
		}
	})
	slices.SortStableFunc(list, func(a, b Message) int { return cmp.Compare(a.Offered, b.Offered) })
	return list
}

// A Sample is one reading of a gauge.
type Sample struct {
	At    units.Time
	Value float64
}

// Gauges returns what was sampled of a host's gauges, by name.
func (s *Sim) Gauges(h topo.HostID) map[string][]Sample {
	names, values := map[uint16]string{}, map[string][]Sample{}
	s.recordsOf(h, func(r record.Record) {
		switch r.Kind {
		case record.GaugeName:
			names[r.Peer] = r.Text
		case record.Gauge:
			name := names[r.Peer]
			values[name] = append(values[name], Sample{r.At, r.Float()})
		}
	})
	return values
}

// Log returns a host's record log so far.
func (s *Sim) Log(h topo.HostID) []byte {
	host := s.hosts[h]
	if host.memory == nil {
		panic("model: the log went to Config.Log")
	}
	host.log.Flush() // a bytes.Buffer does not fail
	return host.memory.Bytes()
}

// records yields the records of all hosts.
func (s *Sim) records(yield func(topo.HostID, record.Record)) {
	for h := range s.hosts {
		s.recordsOf(topo.HostID(h), func(r record.Record) { yield(topo.HostID(h), r) })
	}
}

func (s *Sim) recordsOf(h topo.HostID, yield func(record.Record)) {
	for r, err := range record.Read(bytes.NewReader(s.Log(h))) {
		if err == nil { // the log goes on, so its end is no error
			yield(r)
		}
	}
}
