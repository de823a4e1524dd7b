package packets

import (
	"cmp"
	"maps"
	"slices"

	"sirdbed/sirdnode/wire"
	"sirdbed/sirdnode/wire/layer"
	"sirdbed/topo"
)

// A Summary is what captures have in them.
type Summary struct {
	Files    []string  `json:"files"`
	Frames   int       `json:"frames"`  // sightings: one packet may be seen at several places
	Packets  int       `json:"packets"` // each counted once
	From     int64     `json:"from_ns"`
	To       int64     `json:"to_ns"`
	Types    []Type    `json:"types"`
	Messages []Message `json:"messages"` // the latest 100,000, in the order in which they began
	// Earlier are the messages before those, together.
	Earlier     Earlier      `json:"earlier_messages"`
	Connections []Connection `json:"tcp_connections,omitempty"`
	Credit      []Credit     `json:"credit,omitempty"`
	Senders     []Sender     `json:"senders"`
	Ports       []Port       `json:"ports"`
	Queues      []Queue      `json:"queues"`
	// Problems say what of the captures could not be read or used.
	Problems []string `json:"problems,omitempty"`
}

// A Type is the packets of one type.
type Type struct {
	Protocol string `json:"protocol"`
	Type     string `json:"type,omitempty"`
	Packets  int    `json:"packets"`
	Payload  int64  `json:"payload_bytes"`
	Frames   int64  `json:"frame_bytes"`
}

// A Sender is the packets that one host sent.
type Sender struct {
	Host    string `json:"host"`
	Packets int    `json:"packets"`
	Data    int    `json:"data_packets"` // that carry payload of a message or of TCP
	CSN     int    `json:"csn"`          // that say that the sender is congested
	CE      int    `json:"ce"`           // marked somewhere on their way
}

// A Port is the packets that one port sent.
type Port struct {
	Port    string `json:"port"`
	Packets int    `json:"packets"`
	Frames  int64  `json:"frame_bytes"`
	CSN     int    `json:"csn"`
	CE      int    `json:"ce"`
	Marked  int    `json:"marked_here"` // of those with CE the ones seen without it before
}

// summarizer collects a Summary.
type summarizer struct {
	s           *Summary
	types       map[typeKey]*Type
	senders     map[topo.Addr]*Sender
	ports       map[portKey]*Port
	messages    messages
	ledgers     ledgers
	connections connections
}

type typeKey struct {
	protocol string
	value    int
}

type portKey struct {
	port string
	out  bool
}

// Summarize reads captures, all but their queues (see Summary.AddQueues). The error wraps
// ErrNoCapture if a file is no capture; one that is cut off or damaged is told up to
// there, and is one of the summary's problems.
func Summarize(files []File, filter Filter) (*Summary, error) {
	c := summarizer{
		s:       &Summary{Types: []Type{}, Senders: []Sender{}, Ports: []Port{}, Queues: []Queue{}},
		types:   map[typeKey]*Type{},
		senders: map[topo.Addr]*Sender{},
		ports:   map[portKey]*Port{},
	}
	for _, f := range files {
		c.s.Files = append(c.s.Files, f.Path)
	}
	c.messages.init()
	c.ledgers.init()
	c.connections.init()
	cut, err := read(files, &filter, c.add)
	if err != nil {
		return nil, err
	}
	c.finish()
	if cut != nil {
		c.s.problem(cut)
	}
	return c.s, nil
}

func (s *Summary) problem(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			s.problem(e)
		}
		return
	}
	s.Problems = append(s.Problems, err.Error())
}

func (c *summarizer) add(p *Packet) error {
	if c.s.Frames == 0 || int64(p.At) < c.s.From {
		c.s.From = int64(p.At)
	}
	c.s.To = max(c.s.To, int64(p.At))
	c.s.Frames++
	c.atPort(p)
	if p.mark && p.Kind != layer.Other {
		c.sender(p).CE++
	}
	if p.Again {
		return nil
	}
	c.s.Packets++
	c.ofType(p)
	if p.Kind == layer.Other {
		return nil
	}
	sender := c.sender(p)
	sender.Packets++
	if p.Payload > 0 && (p.Kind == layer.TCP || p.Type != nil && p.Type.Data) {
		sender.Data++
	}
	if p.flag(wire.CSN) {
		sender.CSN++
	}
	switch {
	case p.Kind == layer.TCP:
		c.connections.add(p)
	case p.Type != nil:
		c.ledgers.add(p, c.messages.add(p))
	}
	return nil
}

func (c *summarizer) ofType(p *Packet) {
	key := typeKey{p.Name, -1}
	if p.Type != nil {
		key.value = int(p.Type.Value)
	}
	t := c.types[key]
	if t == nil {
		t = &Type{Protocol: p.Name}
		if p.Type != nil {
			t.Type = p.Type.Name
		}
		c.types[key] = t
	}
	t.Packets++
	t.Payload += int64(p.Payload)
	t.Frames += int64(p.Len)
}

// mostHosts is how many senders, and pairs of hosts, are told apart: more than a fabric
// has. What goes beyond that in captures of other programs is one, and no credit.
const mostHosts = 100_000

func (c *summarizer) sender(p *Packet) *Sender {
	key, host := p.From, p.Source()
	s := c.senders[key]
	if s == nil && len(c.senders) >= mostHosts {
		key, host = topo.Addr{}, "others"
		s = c.senders[key]
	}
	if s == nil {
		s = &Sender{Host: host}
		c.senders[key] = s
	}
	return s
}

func (c *summarizer) atPort(p *Packet) {
	key := portKey{p.Port, p.Out}
	port := c.ports[key]
	if port == nil {
		port = &Port{Port: p.Port}
		c.ports[key] = port
	}
	port.Packets++
	port.Frames += int64(p.Len)
	if p.flag(wire.CSN) {
		port.CSN++
	}
	if p.ECN == wire.CE {
		port.CE++
	}
	if p.mark && p.Again {
		port.Marked++
	}
}

func (c *summarizer) finish() {
	s := c.s
	for _, key := range slices.SortedFunc(maps.Keys(c.types), func(a, b typeKey) int {
		return cmp.Or(cmp.Compare(a.protocol, b.protocol), cmp.Compare(a.value, b.value))
	}) {
		s.Types = append(s.Types, *c.types[key])
	}
	for _, a := range slices.SortedFunc(maps.Keys(c.senders), compareAddr) {
		s.Senders = append(s.Senders, *c.senders[a])
	}
	for _, key := range slices.SortedFunc(maps.Keys(c.ports), func(a, b portKey) int {
		return cmp.Compare(a.port, b.port)
	}) {
		// A port between two captured nodes is seen at both ends: its own node's counts.
		if !key.out && c.ports[portKey{key.port, true}] != nil {
			continue
		}
		s.Ports = append(s.Ports, *c.ports[key])
	}
	s.Messages, s.Earlier = c.messages.list()
	s.Credit = c.ledgers.list()
	s.Connections = c.connections.list()
}

func compareAddr(a, b topo.Addr) int { return slices.Compare(a[:], b[:]) }
