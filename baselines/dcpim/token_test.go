package dcpim_test

import (
	"testing"

	"sirdbed/baselines/dcpim"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// README, Tokens: TOKENs are paced at line rate x channels / k per matched
// pair. A message of as many packets as n channels carry in a data phase is
// given n channels.
func TestTokensArePacedAtTheChannelsRate(t *testing.T) {
	f := rack(t, 2)
	share := at(newSim(t, model.Config{Fabric: f}), 0).ChannelPackets()
	for n := 1; n <= 4; n++ {
		var times []int64
		sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: units.Bytes(n*share) * mss}},
			Params: params(f, withoutPromptLinks),
			OnPacket: func(e model.PacketEvent) {
				if h, ok := leavesHost(f, e); ok && h.Kind == "TOKEN" && len(times) < n*share {
					times = append(times, e.PS)
				}
			}})
		modeltest.AllDone(t, f, sim, 10*units.Millisecond)
		want := f.Uplink(0).Rate.Picoseconds(frame) * 4 / int64(n)
		for i := 1; i < len(times); i++ {
			// A token waits for the packet before it, an RTSACK or ACCEPT.
			if gap := times[i] - times[i-1]; gap < want-8000 || gap > want+8000 {
				t.Errorf("%d channels: %d ps between tokens %d and %d, want %d", n, gap, i-1, i, want)
			}
		}
		if mean := (times[len(times)-1] - times[0]) / int64(len(times)-1); mean < want-want/100 ||
			mean > want+want/100 {
			t.Errorf("%d channels: a token each %d ps, want %d", n, mean, want)
		}
	}
}

// README, Tokens: the next token is due a gap after the one before was due, also where
// that waited for the host's own uplink. Here a full packet is always in transmission, so
// that a packet goes every 120 ns at most, and data for a token is there at once.
func TestTokensKeepTheirRateBesideData(t *testing.T) {
	for n := 1; n <= 4; n++ {
		c, begin := matchedCore(t, n, 5000)
		got := 0
		for now := begin; now < begin+4*c.Round(); now += 120 {
			p := &transport.Packet{}
			if !c.Next(now, p) {
				continue
			}
			if h := dcpim.Parse(p.Header()); h.Kind == "TOKEN" {
				got++
				c.get(now, 1, dcpim.Header{Kind: "DATA", Seq: h.Seq, Offset: h.Offset, Length: 5000 * mss}, mss)
			}
		}
		if want := n * c.ChannelPackets(); got < want-1 || got > want+1 {
			t.Errorf("%d channels: %d tokens in a data phase, want %d", n, got, want)
		}
	}
}

// What is made up for is time on the uplink. A matched sender that had nothing to send
// gets no tokens at once for it: they are a gap apart from the first.
func TestTokensAreNotSavedWhileNothingIsMissing(t *testing.T) {
	c, begin := matchedCore(t, 4, 60)
	now := begin
	for range 60 {
		for _, p := range c.tokens(now, now+200) {
			c.get(now, 1, dcpim.Header{Kind: "DATA", Seq: p.Seq, Offset: p.Offset, Length: 60 * mss}, mss)
		}
		now += 200
	}
	if c.sink.Deliveries != 1 {
		t.Fatalf("%d delivered", c.sink.Deliveries)
	}
	c.get(now, 1, dcpim.Header{Kind: "RTS", ID: 1, Length: 5000 * mss}, 0)
	if got := len(c.tokens(now, now+1230)); got < 9 || got > 11 {
		t.Errorf("%d tokens in ten packet times after a wait, want 10", got)
	}
}

// matchedCore makes a receiver that is matched with host 1 on n channels, for a
// message of so many packets, at the beginning of the data phase.
func matchedCore(t *testing.T, n int, packets uint32) (core, units.Time) {
	c := inReceiverCore(t, 1, []uint32{packets})
	if got := c.accepts(0, []int{n}, []uint32{packets}); got[1] != n {
		t.Fatalf("accepted %v", got)
	}
	for round := units.Time(2); round < 4; round++ {
		c.all(round * c.Round())
	}
	return c, c.Phase(0)
}

// tokens has a core send from one time to another, and returns its tokens.
func (c core) tokens(from, to units.Time) (list []sent) {
	for now := from; now < to; now++ {
		for _, p := range c.all(now) {
			if p.Kind == "TOKEN" {
				list = append(list, p)
			}
		}
	}
	return list
}

// README, Tokens: token_window is 1 BDP, token_window_timeout 1.1 BDP.
// PIM_Vlink::send_token uses the channels' share of the window, and opens it
// again when no data has come for the timeout.
func TestTokenWindowOpensAgainAfterItsTimeout(t *testing.T) {
	for _, n := range []int{2, 4} {
		c, begin := matchedCore(t, n, 5000)
		bdp := c.ShortPackets()
		window := bdp * n / 4
		packet := units.Time(123)
		full := begin + units.Time(window+1)*packet*units.Time(4/n) + 500
		if got := len(c.tokens(begin, full)); got != window+1 {
			t.Errorf("%d channels: %d tokens, want %d and the one that fills the window", n, got, window)
		}
		timeout := units.Time(1.1 * float64(bdp) * 123.04)
		if got := len(c.tokens(full, full-600-units.Time(4/n)*packet+timeout)); got != 0 {
			t.Errorf("%d channels: %d tokens in a full window", n, got)
		}
		next := full + timeout
		if got := len(c.tokens(next-100, next)); got < 1 || got > 2 {
			t.Errorf("%d channels: %d tokens after the timeout, want 1", n, got)
		}
		// Data for the latest token shows that data for the others is lost or
		// has arrived.
		c.get(next, 1, dcpim.Header{Kind: "DATA", Seq: uint32(window), Length: 5000 * mss}, mss)
		if got := len(c.tokens(next, next+2*packet*units.Time(window))); got < window*n/4 {
			t.Errorf("%d channels: %d tokens after data, want most of a window", n, got)
		}
	}
}

// Tokens carry consecutive sequence numbers and name each packet once, until
// all have been named; then the message rests for token_resend_timeout, 1 BDP,
// and what is missing gets new tokens.
func TestMissingPacketsGetNewTokensAfterARest(t *testing.T) {
	c, begin := matchedCore(t, 4, 60)
	now := begin
	var last units.Time
	for seq := uint32(0); seq < 60; now += 20 {
		for _, p := range c.all(now) {
			if p.Kind != "TOKEN" {
				continue
			}
			if p.Seq != seq || p.Offset != seq*mss || p.Epoch != 0 {
				t.Fatalf("%+v, want sequence number %d", p, seq)
			}
			if seq%10 != 3 { // six are lost
				c.get(now, 1, dcpim.Header{Kind: "DATA", Seq: seq, Offset: seq * mss, Length: 60 * mss}, mss)
			}
			seq++
			last = now
		}
	}
	rest := units.Time(float64(c.ShortPackets()) * 123.04)
	if got := c.tokens(now, last+rest-20); len(got) != 0 {
		t.Errorf("%d tokens during the rest", len(got))
	}
	got := c.tokens(last+rest-20, last+rest+2*units.Microsecond)
	if len(got) != 6 {
		t.Fatalf("%d tokens after the rest, want 6", len(got))
	}
	for i, p := range got {
		if want := uint32(10*i + 3); p.Offset != want*mss || p.Seq != uint32(60+i) {
			t.Errorf("%+v, want packet %d with sequence number %d", p, want, 60+i)
		}
		c.get(last+rest+2*units.Microsecond, 1, dcpim.Header{Kind: "DATA", Seq: p.Seq, Offset: p.Offset,
			Length: 60 * mss}, mss)
	}
	if c.sink.Deliveries != 1 || c.sink.Bytes != 60*mss {
		t.Errorf("%d delivered, %d bytes", c.sink.Deliveries, c.sink.Bytes)
	}
}

// README, Tokens: token_timeout is 8 packet times. A token expires at its
// sender that long after the data phase has ended there, half a control round
// trip later than at the receiver (PimFlow::send_token_pkt).
func TestTokensExpire(t *testing.T) {
	f := rack(t, 2)
	c := inSenderCore(t, 1, 1)
	rtt := 2 * f.Transit(f.Path(0, 1, 0), topo.MinWire)
	want := c.Phase(1) + rtt/2 + 984
	if got := c.Expiry(0); got < want-2 || got > want+2 {
		t.Errorf("tokens of the first data phase expire at %v, want %v", got, want)
	}
	for _, late := range []bool{false, true} {
		c := inSenderCore(t, 1, 1)
		c.all(c.Phase(0) + 1000)
		c.get(c.Phase(0)+1000, 1, dcpim.Header{Kind: "TOKEN", Priority: 2, Epoch: 0}, 0)
		now := c.Expiry(0)
		if late {
			now++
		}
		n := 0
		for _, p := range c.all(now) {
			if p.Kind == "DATA" {
				n++
			}
		}
		if late != (n == 0) {
			t.Errorf("late %v: %d data packets", late, n)
		}
	}
	// The header has 4 bits of the epoch; the nearest epoch is meant.
	for _, epoch := range []int64{15, 16, 100} {
		c := inSenderCore(t, 1, 1)
		c.all(c.Phase(epoch))
		c.get(c.Phase(epoch)+1000, 1, dcpim.Header{Kind: "TOKEN", Priority: 2, Epoch: uint8(epoch & 15)}, 0)
		n := 0
		for _, p := range c.all(c.Phase(epoch) + 1000) {
			if p.Kind == "DATA" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("epoch %d: %d data packets", epoch, n)
		}
	}
}

// Senders use tokens by priority, then for the message with the fewest packets
// left, and send short messages before anything else (PimTokenComparator).
func TestSenderServesTokensByPriority(t *testing.T) {
	c := newCore(t, rack(t, 5))
	for h := topo.HostID(1); h <= 4; h++ {
		c.Send(0, transport.Message{Peer: h, Size: 1_000_000 * units.Bytes(h)})
	}
	c.all(0)
	now := c.Phase(0) + 1000
	c.all(now)
	for h, priority := range map[topo.HostID]uint8{1: 4, 2: 2, 3: 5, 4: 4} {
		c.get(now, h, dcpim.Header{Kind: "TOKEN", Priority: priority}, 0)
	}
	c.Send(now, transport.Message{ID: 1, Peer: 3, Size: mss})
	var order []topo.HostID
	for _, p := range c.all(now) {
		if p.Kind == "DATA" {
			order = append(order, p.To)
		}
	}
	want := []topo.HostID{3, 2, 1, 4, 3}
	if len(order) != len(want) {
		t.Fatalf("data to %v, want %v", order, want)
	}
	for i := range want {
		if order[i] != want[i] {
			t.Fatalf("data to %v, want %v", order, want)
		}
	}
}

// The sender with the shortest message has the first priority, and each of its
// channels takes one (PimEpoch::schedule_receiver_iter_evt).
func TestTokenPriorityFollowsTheShortestMessage(t *testing.T) {
	packets := []uint32{900, 300, 600}
	c := inReceiverCore(t, 1, packets)
	c.accepts(0, []int{1, 2, 1}, packets)
	for round := units.Time(2); round < 4; round++ {
		c.all(round * c.Round())
	}
	want := map[topo.HostID]uint8{2: 2, 3: 4, 1: 5}
	for _, p := range c.tokens(c.Phase(0), c.Phase(0)+2000) {
		if p.Priority != want[p.To] {
			t.Errorf("token to %d: priority %d, want %d", p.To, p.Priority, want[p.To])
		}
	}
}
