package xpass_test

import (
	"testing"

	"sirdbed/baselines/xpass"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Nor does a message.
func TestNoAllocationPerMessage(t *testing.T) {
	f := rack(t, 2)
	env, k := modeltest.Env(f, 0)
	a, err := xpass.New(env, params(f, nil))
	if err != nil {
		t.Fatal(err)
	}
	env.Self = 1
	b, err := xpass.New(env, params(f, nil))
	if err != nil {
		t.Fatal(err)
	}
	now, id := units.Time(0), transport.MessageID(0)
	var p transport.Packet
	exchange := func() {
		a.Send(now, transport.Message{ID: id, Peer: 1, Size: 100})
		id++
		for range 10 {
			for side, x := range []*xpass.XPass{a, b} {
				p = transport.Packet{}
				if x.Next(now, &p) {
					p.Peer = topo.HostID(side)
					[]*xpass.XPass{b, a}[side].Receive(now+1000, &p)
				}
			}
			now += 1000
		}
	}
	for range 1000 {
		exchange()
	}
	if n := testing.AllocsPerRun(1000, exchange); n > 0 {
		t.Errorf("%v allocations for a message", n)
	}
	if k.Deliveries != int(id) || k.Acks != int(id) {
		t.Errorf("%d sent, %+v", id, k)
	}
}

// No sequence of packets, however wrong, breaks a host: it neither panics nor
// requests anything impossible, and goes idle in the end.
func FuzzReceive(f *testing.F) {
	for _, h := range []xpass.Header{
		{Kind: "CREDIT_REQUEST", Count: 1}, {Kind: "CREDIT", Seq: 1}, {Kind: "DATA", Seq: 1, Length: 3000,
			Offset: 1438},
		{Kind: "CREDIT_STOP", Count: 5000}, {Kind: "NACK", Length: 1438}, {Kind: "ACK"}, {Kind: "BUSY"},
		{Kind: "CREDIT_STOP", Gone: true},
	} {
		var p transport.Packet
		h.Encode(&p)
		f.Add(append([]byte{1, byte(p.HeaderLen), 100}, p.Header()...))
	}
	fab := rack(f, 3)
	f.Fuzz(func(t *testing.T, b []byte) {
		env, _ := modeltest.Env(fab, 0)
		x, err := xpass.New(env, params(fab, nil))
		if err != nil {
			t.Fatal(err)
		}
		now := units.Time(1000)
		x.Send(now, transport.Message{ID: 0, Peer: 1, Size: 10_000})
		x.Send(now, transport.Message{ID: 0, Peer: 2, Size: 1})
		drain := func() {
			for range 1000 {
				p := transport.Packet{}
				if !x.Next(now, &p) {
					return
				}
				if p.Peer < 1 || p.Peer > 2 || p.PayloadLen > mss || p.HeaderLen > transport.MaxHeader ||
					xpass.Parse(p.Header()).Kind == "?" {
					t.Fatalf("sent %+v", p)
				}
			}
			t.Fatal("no end of packets")
		}
		for len(b) >= 3 {
			n := min(int(b[1])%(transport.MaxHeader+1), len(b)-3)
			p := transport.Packet{Peer: topo.HostID(b[0] % 4), PayloadLen: int(b[2]) * 6, HeaderLen: n}
			copy(p.HeaderBytes[:], b[3:3+n])
			x.Receive(now, &p)
			drain()
			now += units.Time(b[0]) * 100
			b = b[3+n:]
		}
		// Nobody answers, so everything is given up in the end.
		for i := 0; x.Wake() != units.Never; i++ {
			now = max(now, x.Wake())
			drain()
			if now > units.Second || i > 1_000_000 {
				t.Fatalf("still at it at %v: %s", now, x.Leaks())
			}
		}
		if k := env.Sink.(*modeltest.Sink); k.Acks+k.Failures != 2 {
			t.Fatalf("%+v", k)
		}
	})
}
