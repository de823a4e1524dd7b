package packets

import (
	"cmp"
	"maps"
	"slices"

	"sirdbed/topo"
)

// A Connection is the segments of TCP in one direction.
type Connection struct {
	From     string `json:"from"`
	To       string `json:"to"`
	FromPort uint16 `json:"from_port"`
	ToPort   uint16 `json:"to_port"`
	First    int64  `json:"first_ns"`
	Last     int64  `json:"last_ns"`
	Segments int    `json:"segments"`
	Payload  int64  `json:"payload_bytes"`
	Again    int64  `json:"retransmitted_bytes"` // that were behind the highest byte seen before
}

// mostConnections is how many directions of connections are told apart; those beyond
// are counted as one.
const mostConnections = 50_000

type connectionKey struct {
	from, to         topo.Addr
	fromPort, toPort uint16
}

type connection struct {
	Connection
	next  uint32 // behind the highest byte seen
	begun bool
}

type connections struct{ open map[connectionKey]*connection }

func (c *connections) init() { c.open = map[connectionKey]*connection{} }

func (c *connections) add(p *Packet) {
	key := connectionKey{p.From, p.To, p.SrcPort, p.DstPort}
	x := c.open[key]
	if x == nil && len(c.open) >= mostConnections {
		key = connectionKey{}
		x = c.open[key]
	}
	if x == nil {
		x = &connection{Connection: Connection{
			From: p.Source(), To: p.Destination(), FromPort: key.fromPort, ToPort: key.toPort,
			First: int64(p.At), Last: int64(p.At),
		}}
		if key == (connectionKey{}) {
			x.From, x.To = "others", "others"
		}
		c.open[key] = x
	}
	x.Segments++
	x.First, x.Last = min(x.First, int64(p.At)), max(x.Last, int64(p.At))
	x.Payload += int64(p.Payload)
	if p.Payload == 0 || key == (connectionKey{}) {
		return
	}
	end := p.Seq + uint32(p.Payload)
	if behind := int64(int32(x.next - p.Seq)); x.begun && behind > 0 {
		x.Again += min(behind, int64(p.Payload))
	}
	if !x.begun || int32(end-x.next) > 0 {
		x.next, x.begun = end, true
	}
}

func (c *connections) list() (list []Connection) {
	for _, x := range slices.SortedFunc(maps.Values(c.open), func(a, b *connection) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To),
			cmp.Compare(a.FromPort, b.FromPort), cmp.Compare(a.ToPort, b.ToPort))
	}) {
		list = append(list, x.Connection)
	}
	return list
}
