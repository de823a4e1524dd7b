//go:build linux

package real

import (
	"sirdbed/emu/fabric/port"
	"sirdbed/sirdnode/record"
	"sirdbed/topo/units"
)

// A sentLog has the sampler log, now and then, what the switches' ports have sent, which
// each sample reads anyway: for a picture of the run while it goes on.
type sentLog struct {
	every, at units.Time
	last      []int64 // by PortID: of its last record
}

func (l *sentLog) take(s *sampler, stats []port.Stats) {
	first := s.clock.ToNominal(stats[s.ids[0]].At)
	if first < l.at {
		return
	}
	l.at = first + l.every
	for _, id := range s.ids {
		if sent := stats[id].SentWireBytes(); sent != l.last[id] {
			l.last[id] = sent
			s.log.Put(record.Record{Kind: record.Sent, Peer: uint16(id), At: s.clock.ToNominal(stats[id].At), N: sent})
		}
	}
}
