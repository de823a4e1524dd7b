package broker_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"sirdbed/sirdnode/message/broker"
	"sirdbed/sirdnode/message/brokertest"
	"sirdbed/sirdnode/message/frame"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
)

var small = broker.Limits{Message: 100_000, Client: 250_000, Messages: 8, Outgoing: 400_000, Window: 200_000,
	Incoming: 300_000, Clients: 4}

// A program is one end of a connection whose socket has room for all.
type program struct {
	t *testing.T
	f *brokertest.Fabric
	c *broker.Client
	n uint32
}

func connect(t *testing.T, f *brokertest.Fabric, host int) *program {
	t.Helper()
	p := &program{t, f, f.Brokers[host].Connect(), 0}
	if got := p.read(); len(got) != 1 || got[0].Kind != frame.Welcome {
		t.Fatalf("the first frames are %v, want a welcome", got)
	}
	return p
}

type received struct {
	frame.Header
	data []byte
}

// read returns the frames that are there.
func (p *program) read() (list []received) {
	p.t.Helper()
	var all []byte
	for out := p.c.Output(); out != nil; out = p.c.Output() {
		all = append(all, out...)
		p.c.Wrote(len(out))
	}
	for len(all) > 0 {
		h, err := frame.FromHost(all)
		if err != nil {
			p.t.Fatal(err)
		}
		all = all[frame.HeaderLen:]
		list = append(list, received{h, all[:h.Length]})
		all = all[h.Length:]
	}
	return list
}

// write writes a frame, and has the network settle.
func (p *program) write(h frame.Header, data []byte) {
	h.Length = uint32(len(data))
	p.c.Feed(append(h.Append(nil), data...))
	p.f.Settle()
}

func (p *program) send(kind frame.Kind, to uint16, data []byte) (id uint32) {
	p.n++
	p.write(frame.Header{Kind: kind, Host: to, Service: 5, ID: p.n}, data)
	return p.n
}

// want reads one frame of a kind.
func (p *program) want(kind frame.Kind, code frame.Code) received {
	p.t.Helper()
	got := p.read()
	if len(got) != 1 || got[0].Kind != kind || got[0].Code != code {
		p.t.Fatalf("got frames %v, want one of kind %d with code %d", got, kind, code)
	}
	return got[0]
}

func (p *program) listen() {
	p.t.Helper()
	p.send(frame.Listen, 0, nil)
	p.want(frame.Result, frame.OK)
}

func text(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(n)})
	r.Read(b)
	return b
}

// Messages of all sizes arrive as they were sent, and count as sent once they are taken.
func TestMessagesArriveAndAreTaken(t *testing.T) {
	f := brokertest.New(t, 2, small)
	from, to := connect(t, f, 0), connect(t, f, 1)
	to.listen()
	for _, size := range []int{0, 1, 15, 16, 17, 47, 48, 49, 65519, 65520, 65521, 65536, 100_000} {
		id := from.send(frame.Send, 1, text(size))
		m := to.want(frame.Message, frame.OK)
		if !bytes.Equal(m.data, text(size)) || m.Host != 0 || m.Service != 5 {
			t.Fatalf("%d bytes arrived as %d, from host %d for service %d", size, len(m.data), m.Host, m.Service)
		}
		if early := from.read(); early != nil {
			t.Fatalf("%d bytes: the sender got %v before they were taken", size, early)
		}
		to.write(frame.Header{Kind: frame.Taken, ID: m.ID}, nil)
		if r := from.want(frame.Result, frame.OK); r.ID != id {
			t.Errorf("message %d is taken, and the answer is about %d", id, r.ID)
		}
	}
	f.Brokers[0].CheckIdle(t)
	f.Brokers[1].CheckIdle(t)
}

func TestRequestsAreAnswered(t *testing.T) {
	f := brokertest.New(t, 2, small)
	from, to := connect(t, f, 0), connect(t, f, 1)
	to.listen()
	a, b := from.send(frame.Request, 1, []byte("a")), from.send(frame.Request, 1, []byte("b"))
	asked := to.read()
	if len(asked) != 2 {
		t.Fatalf("2 requests arrived as %v", asked)
	}
	for _, m := range asked {
		to.write(frame.Header{Kind: frame.Taken, ID: m.ID}, nil)
	}
	for i, want := range []uint32{b, a} { // answered in the other order
		m := asked[1-i]
		to.write(frame.Header{Kind: frame.Reply, ID: m.ID}, append([]byte("reply to "), m.data...))
		to.want(frame.Replied, frame.OK)
		r := from.want(frame.Answer, frame.OK)
		if r.ID != want || string(r.data) != "reply to "+string(m.data) {
			t.Errorf("request %d got %q as %d", want, r.data, r.ID)
		}
		to.write(frame.Header{Kind: frame.Reply, ID: m.ID}, nil)
		to.want(frame.Replied, frame.Malformed) // it was answered
	}
	f.Brokers[0].CheckIdle(t)
	f.Brokers[1].CheckIdle(t)
}

func TestRefusals(t *testing.T) {
	f := brokertest.New(t, 3, small)
	from, to := connect(t, f, 0), connect(t, f, 1)
	to.listen()
	for _, c := range []struct {
		name string
		host uint16
		size int
		want frame.Code
	}{
		{"too large", 1, 100_001, frame.TooLarge},
		{"no such host", 3, 1, frame.UnknownHost},
		{"itself", 0, 1, frame.UnknownHost},
		{"nobody listens", 2, 50_000, frame.NoListener},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, kind := range []frame.Kind{frame.Send, frame.Request} {
				id := from.send(kind, c.host, text(c.size))
				if r := from.want(frame.Result, c.want); r.ID != id {
					t.Errorf("message %d is refused as %d", id, r.ID)
				}
			}
		})
	}
	second := connect(t, f, 1)
	second.send(frame.Listen, 0, nil)
	second.want(frame.Result, frame.InUse)
	f.Brokers[0].CheckIdle(t)
}

// What a slow reader leaves stays within limits: then its senders are not read from, until
// it reads.
func TestBackPressureOfASlowReader(t *testing.T) {
	f := brokertest.New(t, 2, small)
	from, to := connect(t, f, 0), connect(t, f, 1)
	to.listen()
	const size, count = 50_000, 20
	for range count {
		from.send(frame.Send, 1, text(size))
	}
	if from.c.Wants() {
		t.Error("more is read from a program whose messages nobody takes")
	}
	taken := 0
	for range 3 * count {
		for _, m := range to.read() {
			if m.Kind == frame.Message && !bytes.Equal(m.data, text(size)) {
				t.Fatal("a message arrived changed")
			}
			taken++
			to.write(frame.Header{Kind: frame.Taken, ID: m.ID}, nil)
		}
		if most := f.Brokers[1].Incoming(); most > small.Window {
			t.Fatalf("%d bytes wait for a slow reader, want at most %d", most, small.Window)
		}
	}
	if done := len(from.read()); taken != count || done != count || !from.c.Wants() {
		t.Errorf("%d messages were taken and %d reported, want %d; more is read: %v", taken, done, count,
			from.c.Wants())
	}
	f.Brokers[0].CheckIdle(t)
	f.Brokers[1].CheckIdle(t)
}

// Many senders to one that does not read: what its host has no room for is refused.
func TestFullReceiverRefuses(t *testing.T) {
	f := brokertest.New(t, 6, small)
	to := connect(t, f, 5)
	to.listen()
	codes := map[frame.Code]int{}
	var senders []*program
	for i := range 5 {
		p := connect(t, f, i)
		senders = append(senders, p)
		p.send(frame.Send, 5, text(90_000))
	}
	for i := range 5 {
		for _, m := range to.read() {
			to.write(frame.Header{Kind: frame.Taken, ID: m.ID}, nil)
		}
		_ = i
	}
	for _, p := range senders {
		for _, r := range p.read() {
			codes[r.Code]++
		}
	}
	if codes[frame.OK] != 3 || codes[frame.Full] != 2 {
		t.Errorf("of 5 messages of 90 KB to a host with room for 300 KB became %v, want 3 taken and 2 refused", codes)
	}
	f.Brokers[5].CheckIdle(t)
}

func TestKilledPrograms(t *testing.T) {
	t.Run("receiver", func(t *testing.T) {
		f := brokertest.New(t, 2, small)
		from, to := connect(t, f, 0), connect(t, f, 1)
		to.listen()
		from.send(frame.Send, 1, text(70_000))
		request := from.send(frame.Request, 1, text(10))
		if got := to.read(); len(got) != 2 {
			t.Fatalf("%v arrived, want two messages", got)
		} else {
			to.write(frame.Header{Kind: frame.Taken, ID: got[1].ID}, nil)
		}
		to.c.Close()
		f.Settle()
		got := from.read()
		if len(got) != 2 || got[0].Code != frame.NoListener || got[1].Code != frame.NoListener {
			t.Errorf("after the receiver's end the sender got %v, want that nobody listens, twice (request %d)", got,
				request)
		}
		connect(t, f, 1).listen() // the service is free again
		f.Brokers[0].CheckIdle(t)
		f.Brokers[1].CheckIdle(t)
	})
	t.Run("sender", func(t *testing.T) {
		f := brokertest.New(t, 2, small)
		from, to := connect(t, f, 0), connect(t, f, 1)
		to.listen()
		from.send(frame.Request, 1, text(70_000))
		h := frame.Header{Kind: frame.Send, Host: 1, Service: 5, ID: 9, Length: 100}
		from.c.Feed(append(h.Append(nil), text(50)...)) // half a message
		from.c.Close()
		m := to.want(frame.Asked, frame.OK)
		to.write(frame.Header{Kind: frame.Taken, ID: m.ID}, nil)
		to.write(frame.Header{Kind: frame.Reply, ID: m.ID}, text(1000))
		to.want(frame.Replied, frame.OK)
		f.Brokers[0].CheckIdle(t)
		f.Brokers[1].CheckIdle(t)
	})
}

func TestFailuresOfTheTransport(t *testing.T) {
	f := brokertest.New(t, 2, small)
	from, to := connect(t, f, 0), connect(t, f, 1)
	to.listen()
	large := func(_, _ transport.HostID, size units.Bytes) bool { return size > 1000 }
	f.Lose = large
	from.send(frame.Send, 1, text(60_000))
	if r := from.want(frame.Result, frame.Failed); string(r.data) != "it was lost" {
		t.Errorf("the reason is %q", r.data)
	}
	from.send(frame.Request, 1, text(10))
	m := to.want(frame.Asked, frame.OK)
	to.write(frame.Header{Kind: frame.Taken, ID: m.ID}, nil)
	to.write(frame.Header{Kind: frame.Reply, ID: m.ID}, text(60_000))
	to.want(frame.Replied, frame.Failed)
	from.want(frame.Result, frame.Failed)
	lost := 0
	f.Lose = func(src, _ transport.HostID, _ units.Bytes) bool { // receipts, now and then
		lost++
		return src == 1 && lost%3 != 0
	}
	from.send(frame.Send, 1, text(10))
	to.write(frame.Header{Kind: frame.Taken, ID: to.want(frame.Message, frame.OK).ID}, nil)
	from.want(frame.Result, frame.OK)
	f.Brokers[0].CheckIdle(t)
	f.Brokers[1].CheckIdle(t)
}

func TestDamageIsFound(t *testing.T) {
	f := brokertest.New(t, 2, small)
	from, to := connect(t, f, 0), connect(t, f, 1)
	to.listen()
	f.Damage = func(piece []byte) {
		if len(piece) > 100 {
			piece[50] ^= 1
		}
	}
	from.send(frame.Send, 1, text(60_000))
	from.want(frame.Result, frame.Damaged)
	if f.Damaged != 1 || to.read() != nil {
		t.Errorf("%d messages were found to be damaged, want 1, which nobody gets", f.Damaged)
	}
}

func TestTheProtocolIsKept(t *testing.T) {
	for i, b := range [][]byte{
		make([]byte, 16), bytes.Repeat([]byte{255}, 16),
		(&frame.Header{Kind: frame.Taken, ID: 77}).Append(nil),
		(&frame.Header{Kind: frame.Listen, Length: 1}).Append(nil),
		(&frame.Header{Kind: frame.Welcome}).Append(nil),
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			f := brokertest.New(t, 2, small)
			p := connect(t, f, 0)
			p.c.Feed(b)
			p.want(frame.Farewell, frame.Malformed)
			if !p.c.Ending() || p.c.Wants() {
				t.Error("the connection goes on")
			}
		})
	}
	f := brokertest.New(t, 2, small)
	for range small.Clients {
		connect(t, f, 0)
	}
	if f.Brokers[0].Connect() != nil {
		t.Errorf("there are more than %d connections", small.Clients)
	}
}
