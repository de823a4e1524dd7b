package flow

import (
	"fmt"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/headertest"
)

// Broken describes a sum that does not add up, "" when all do.
func (s *Segments) Broken() string {
	inFlight, lost := 0, 0
	for n := s.acked; n < s.fresh; n++ {
		switch s.at(n).state {
		case flying:
			inFlight++
		case missing:
			lost++
			if n < s.lostFrom {
				return fmt.Sprintf("segment %d is lost, none below %d should be", n, s.lostFrom)
			}
		}
	}
	if inFlight != s.inFlight || lost != s.lost || s.acked > s.fresh || s.fresh > s.count {
		return fmt.Sprintf("%d in flight, counted %d; %d lost, counted %d; %d, %d, %d", inFlight, s.inFlight, lost,
			s.lost, s.acked, s.fresh, s.count)
	}
	return ""
}

// Broken describes a state that no packet may cause at a host, "" when all is
// well.
func (t *Transport) Broken() string {
	for _, o := range t.peers {
		if o == nil {
			continue
		}
		busy := 0
		for _, c := range o.connections {
			if broken := c.segments.Broken(); broken != "" {
				return fmt.Sprintf("peer %d, connection %d: %s", o.id, c.number, broken)
			}
			if c.busy {
				busy++
			}
		}
		if busy != o.pool.Busy() || o.pool.Waiting() > 0 && busy < t.config.Connections {
			return fmt.Sprintf("peer %d: %d of %d connections busy, %d messages wait", o.id, busy, o.pool.Busy(),
				o.pool.Waiting())
		}
	}
	return ""
}

// Remembered returns how many messages an inbox keeps from a peer as delivered.
func (x *Inbox) Remembered(peer transport.HostID) int { return x.peers[peer].Remembered() }

// A Header is a header as tests read and write it.
type Header struct {
	Kind          string
	Echo          bool
	Connection    uint8
	ID            transport.MessageID
	Offset, Stamp uint32
	Length        uint32
	AboveFloor    uint16
	AckDelay      uint32
	Ranges        [][2]uint32
}

// Parse reads a header; its Kind is "?" if that is impossible.
func Parse(b []byte) Header {
	var h header
	if h.decode(b) != nil {
		return Header{Kind: "?"}
	}
	e := Header{
		Kind: kindNames[h.kind], Echo: h.echo, Connection: h.connection, ID: h.id, Offset: h.offset, Stamp: h.stamp,
		Length: h.length, AboveFloor: h.aboveFloor, AckDelay: h.ackDelay,
	}
	for _, r := range h.ranges[:h.n] {
		e.Ranges = append(e.Ranges, [2]uint32{r.from, r.to})
	}
	return e
}

// Encode writes a header into a packet.
func (e Header) Encode(p *transport.Packet) {
	h := header{
		kind: data, echo: e.Echo, connection: e.Connection, id: e.ID, offset: e.Offset, stamp: e.Stamp,
		length: e.Length, aboveFloor: e.AboveFloor, ackDelay: e.AckDelay,
	}
	if e.Kind == kindNames[ack] {
		h.kind = ack
	}
	for _, r := range e.Ranges {
		h.ranges[h.n] = extent{r[0], r[1]}
		h.n++
	}
	h.encode(p)
}

var kindNames = headertest.Names[kind](&Headers)
