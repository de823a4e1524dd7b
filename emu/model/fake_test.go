package model

import (
	"encoding/binary"
	"testing"

	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/transport/account"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// fake is the simplest transport there is: it sends messages in order at line
// rate, never again, and may acknowledge each with one minimal packet, or each
// packet with an answer of any size.
type fake struct {
	env    transport.Env
	params *fakeParams

	queue   []transport.Message
	sent    units.Bytes // of queue[0]
	replies []fakeReply
	in      map[fakeKey]*account.Spans
	packets int
}

type fakeKey struct {
	peer topo.HostID
	id   transport.MessageID
}

type fakeReply struct {
	kind byte
	fakeKey
	payload int
}

// fakeParams of the zero value send full packets over paths the hash chooses,
// one entropy for each message, and get no answer.
type fakeParams struct {
	Answer int                                     // payload bytes of an answer, -1: a minimal packet, 0: no answer
	Acks   bool                                    // a minimal packet tells the sender of each delivery
	MSS    int                                     // payload of full packets, 0: what the MTU allows
	Tune   func(n int, p *transport.Packet)        // changes packet n of a host
	Got    func(transport.Time, *transport.Packet) // sees what arrives
	Limit  int                                     // packets a host sends at most, 0: no limit
}

const (
	fakeData, fakeAnswer, fakeAck = 1, 2, 3

	fakeDataLen, fakeAckLen = 20, 8
)

var fakeProtocol = transport.Protocol{
	Name: "fake",
	Wire: wire.Protocol{Name: "fake", Port: 47999, HeaderLen: func(b []byte) (int, error) {
		if len(b) < fakeAckLen {
			return 0, wire.ErrTruncated
		}
		if b[0] == fakeData {
			return fakeDataLen, nil
		}
		return fakeAckLen, nil
	}},
	DefaultParams: func(*topo.Fabric) any { return &fakeParams{} },
	Network:       func(*topo.Fabric, any) transport.Network { return transport.Network{Priorities: 8} },
	New: func(env transport.Env, params any) (transport.Transport, error) {
		return &fake{env: env, params: params.(*fakeParams), in: map[fakeKey]*account.Spans{}}, nil
	},
}

func (f *fake) Send(_ transport.Time, m transport.Message) { f.queue = append(f.queue, m) }

func (f *fake) Wake() transport.Time {
	if f.params.Limit > 0 && f.packets >= f.params.Limit || len(f.queue) == 0 && len(f.replies) == 0 {
		return units.Never
	}
	return 0
}

func (f *fake) Next(now transport.Time, p *transport.Packet) bool {
	if f.Wake() == units.Never {
		return false
	}
	b := p.HeaderBytes[:]
	clear(b)
	if len(f.replies) > 0 {
		r := f.replies[0]
		f.replies = append(f.replies[:0], f.replies[1:]...)
		b[0] = r.kind
		binary.BigEndian.PutUint32(b[1:], uint32(r.id))
		p.Peer, p.HeaderLen, p.PayloadLen = r.peer, fakeAckLen, r.payload
	} else {
		f.data(p)
	}
	if f.params.Tune != nil {
		f.params.Tune(f.packets, p)
	}
	f.packets++
	return true
}

func (f *fake) data(p *transport.Packet) {
	m := f.queue[0]
	mss := units.Bytes(f.params.MSS)
	if mss == 0 {
		mss = wire.MSS(f.env.Fabric.Spec.MTU, fakeDataLen)
	}
	b := p.HeaderBytes[:]
	b[0] = fakeData
	binary.BigEndian.PutUint32(b[1:], uint32(m.ID))
	binary.BigEndian.PutUint32(b[5:], uint32(m.Size))
	binary.BigEndian.PutUint32(b[9:], uint32(f.sent))
	binary.BigEndian.PutUint32(b[13:], uint32(m.Tag))
	p.Peer, p.HeaderLen, p.ID, p.Tag, p.Offset = m.Peer, fakeDataLen, m.ID, m.Tag, f.sent
	p.PayloadLen = int(min(mss, m.Size-f.sent))
	p.Entropy, p.ECT = uint16(m.ID), true
	f.sent += units.Bytes(p.PayloadLen)
	if f.sent == m.Size {
		f.queue, f.sent = append(f.queue[:0], f.queue[1:]...), 0
	}
}

func (f *fake) Receive(now transport.Time, p *transport.Packet) {
	if f.params.Got != nil {
		f.params.Got(now, p)
	}
	b := p.Header()
	key := fakeKey{p.Peer, transport.MessageID(binary.BigEndian.Uint32(b[1:]))}
	switch b[0] {
	case fakeAck:
		f.env.Sink.Acked(now, transport.Message{ID: key.id, Peer: p.Peer})
		return
	case fakeAnswer:
		return
	}
	m := transport.Message{
		ID: key.id, Peer: p.Peer, Size: units.Bytes(binary.BigEndian.Uint32(b[5:])),
		Tag: transport.Tag(binary.BigEndian.Uint32(b[13:])),
	}
	if f.params.Answer != 0 {
		f.replies = append(f.replies, fakeReply{fakeAnswer, key, max(0, f.params.Answer)})
	}
	s := f.in[key]
	if s == nil {
		s = &account.Spans{}
		f.in[key] = s
	}
	offset := units.Bytes(binary.BigEndian.Uint32(b[9:]))
	if n := s.Add(offset, offset+units.Bytes(p.PayloadLen)); n > 0 {
		f.env.Sink.Data(now, m, offset, int(n), p.Payload)
		if s.Total() == m.Size {
			f.env.Sink.Delivered(now, m)
			if f.params.Acks {
				f.replies = append(f.replies, fakeReply{fakeAck, key, 0})
			}
		}
	}
}

// paperFabric is the paper's, 144 hosts; smaller with the figures given.
func paperFabric(t testing.TB, change ...func(*topo.Spec)) *topo.Fabric {
	t.Helper()
	spec := topo.Spec{
		Leaves: 9, HostsPerLeaf: 16, Spines: 4,
		HostRate: 100 * units.Gbps, CoreRate: 400 * units.Gbps,
		HostDelay: 1250, CoreDelay: 500,
	}
	for _, c := range change {
		c(&spec)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// rack is one leaf with the given hosts.
func rack(hosts int) func(*topo.Spec) {
	return func(s *topo.Spec) { s.Leaves, s.Spines, s.HostsPerLeaf = 1, 0, hosts }
}

func newSim(t testing.TB, cfg Config) *Sim {
	t.Helper()
	if cfg.Protocol.New == nil {
		cfg.Protocol = fakeProtocol
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// conserved checks that every packet sent is accounted for, the network being
// empty.
func conserved(t testing.TB, s *Sim) {
	t.Helper()
	c := s.Totals()
	h, p := c.HostStats, c.PortStats
	if s.InFlight() != 0 {
		t.Errorf("%d packets in flight, want none", s.InFlight())
	}
	if c.Sent != h.Received+p.Drops+p.CreditDrops+p.Lost {
		t.Errorf("%d sent; received %d, ports %+v: want each sent received or lost", c.Sent, h.Received, p)
	}
	if c.Counts.Received != h.Received-h.Faults-h.Corrupt-h.Foreign+h.Extra {
		t.Errorf("transports got %d of %+v: want all but what was corrupt or dropped, and the extra",
			c.Counts.Received, h)
	}
}
