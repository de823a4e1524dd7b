package dcpim_test

import (
	"slices"
	"testing"

	"sirdbed/baselines/dcpim"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// No host is ever matched on more than k channels. Counted on the wire, for
// every host and data phase, as a sender and as a receiver: channels accepted,
// less those that GRANTSR took back; and no token goes to a sender that is not
// matched.
func TestNeverMatchesMoreThanKChannels(t *testing.T) {
	for k := 1; k <= 8; k += k/2 + 1 {
		for seed := range uint64(4) {
			f := modeltest.Fabric(t, topo.Spec{Leaves: 2, HostsPerLeaf: 4, Spines: 2, HostRate: 100 * units.Gbps,
				CoreRate: 100 * units.Gbps, HostDelay: 1250, CoreDelay: 500})
			type matched struct {
				host  topo.HostID
				epoch int64
			}
			sending, receiving := map[matched]int{}, map[matched]int{}
			pairs := map[[3]int64]bool{}
			p := params(f, func(p *dcpim.Params) { p.Channels = k; p.Rounds = 1 + int(seed) })
			accepts := 0
			sim := newSim(t, model.Config{
				Fabric: f, Seed: seed, Params: p, To: units.Millisecond,
				Streams: []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Sizes: "wkb", Load: 0.9}},
				OnPacket: func(e model.PacketEvent) {
					h, ok := leavesHost(f, e)
					epoch := int64(h.Round) / int64(p.Rounds)
					switch {
					case !ok:
					case h.Kind == "ACCEPT":
						accepts++
						receiving[matched{e.Src, epoch}] += h.Channels
						sending[matched{e.Dst, epoch}] += h.Channels
						pairs[[3]int64{int64(e.Dst), int64(e.Src), epoch & 15}] = true
					case h.Kind == "GRANTSR":
						receiving[matched{e.Dst, epoch}] -= h.Channels
						sending[matched{e.Src, epoch}] -= h.Channels
					case h.Kind == "TOKEN" && !pairs[[3]int64{int64(e.Dst), int64(e.Src), int64(h.Epoch)}]:
						t.Errorf("token from %d to %d without a match: %+v", e.Src, e.Dst, h)
					}
				},
			})
			sim.Run(units.Millisecond)
			most := 0
			for _, side := range []map[matched]int{sending, receiving} {
				for m, n := range side {
					if most = max(most, n); n > k || n < 0 {
						t.Errorf("k %d: host %d has %d channels in epoch %d", k, m.host, n, m.epoch)
					}
				}
			}
			for _, h := range f.Hosts {
				if b := at(sim, h).Broken(); b != "" {
					t.Errorf("%s", b)
				}
			}
			if most < k || accepts < 50 {
				t.Errorf("k %d: %d channels at most, %d accepts: nothing was tested", k, most, accepts)
			}
		}
	}
}

// inSenderCore makes a sender with a long message to each of n other hosts.
func inSenderCore(t *testing.T, seed uint64, n int) core {
	f := rack(t, n+1)
	c := newSeededCore(t, f, seed)
	for h := 1; h <= n; h++ {
		c.Send(0, transport.Message{Peer: topo.HostID(h), Size: 1_000_000})
	}
	c.all(0)
	return c
}

// grants hands a sender requests for one channel each, and returns the hosts
// that it grants: remaining[i] packets are missing at host i+1.
func (c core) grants(round uint32, remaining []uint32) (hosts []int) {
	begin := units.Time(round) * c.Round()
	c.all(begin)
	for i, n := range remaining {
		c.get(begin+100, topo.HostID(i+1), dcpim.Header{Kind: "REQUEST", Round: round, Channels: 1, Remaining: n}, 0)
	}
	for _, p := range c.all(begin + c.Round()/2) {
		if p.Kind == "GRANT" && p.Channels == 1 && p.Round == round {
			hosts = append(hosts, int(p.To))
		}
	}
	slices.Sort(hosts)
	return hosts
}

// README, Matching: the first select_min_rounds rounds prefer the shortest
// message, later ones choose at random. Ties are broken at random.
func TestFirstRoundGrantsTheShortest(t *testing.T) {
	later, ties := map[int]int{}, map[int]int{}
	for seed := range uint64(60) {
		c := inSenderCore(t, seed, 8)
		if got := c.grants(0, []uint32{800, 100, 700, 200, 600, 300, 500, 400}); !slices.Equal(got, []int{2, 4, 6, 8}) {
			t.Fatalf("first round: granted %v", got)
		}
		// Nobody accepted: all four are free again.
		for _, h := range c.grants(1, []uint32{800, 100, 700, 200, 600, 300, 500, 400}) {
			later[h]++
		}
		for _, h := range c.grants(4, []uint32{5, 5, 5, 5, 5, 5, 5, 5}) {
			ties[h]++
		}
	}
	for h := 1; h <= 8; h++ {
		// Binomial with p 1/2: 30 +- 3.9.
		if later[h] < 15 || later[h] > 45 || ties[h] < 15 || ties[h] > 45 {
			t.Errorf("host %d was granted %d times in a second round, %d times as one of equals: want 30 of 60", h,
				later[h], ties[h])
		}
	}
}

// inReceiverCore makes a receiver that knows a message from each of n other
// hosts, of the given numbers of packets, and takes its requests of a round.
func inReceiverCore(t *testing.T, seed uint64, packets []uint32) core {
	c := newSeededCore(t, rack(t, len(packets)+1), seed)
	for i, n := range packets {
		c.get(0, topo.HostID(i+1), dcpim.Header{Kind: "RTS", Length: n * mss}, 0)
	}
	c.all(0)
	return c
}

// accepts hands a receiver a grant of so many channels from each host, in a
// round, and returns the channels accepted by host.
func (c core) accepts(round uint32, channels []int, remaining []uint32) map[int]int {
	c.all(units.Time(round) * c.Round())
	for i, n := range channels {
		if n > 0 {
			h := dcpim.Header{Kind: "GRANT", Round: round, Channels: n, Remaining: remaining[i]}
			c.get(units.Time(round)*c.Round()+c.Round()*3/4, topo.HostID(i+1), h, 0)
			c.get(units.Time(round)*c.Round()+c.Round()*3/4, topo.HostID(i+1), h, 0) // a duplicate changes nothing
		}
	}
	got := map[int]int{}
	for _, p := range c.all(units.Time(round+1) * c.Round()) {
		if p.Kind == "ACCEPT" {
			got[int(p.To)] += p.Channels
		}
	}
	return got
}

// The receiver's half of the same rule.
func TestFirstRoundAcceptsTheShortest(t *testing.T) {
	packets := []uint32{800, 100, 700, 200, 600}
	later := map[int]int{}
	for seed := range uint64(60) {
		c := inReceiverCore(t, seed, packets)
		if got := c.accepts(0, []int{1, 2, 1, 1, 1}, packets); len(got) != 3 || got[2] != 2 || got[4] != 1 ||
			got[5] != 1 {
			t.Fatalf("first round: accepted %v", got)
		}
		c = inReceiverCore(t, seed, packets)
		got := c.accepts(1, []int{1, 1, 1, 1, 1}, packets)
		if len(got) != 4 {
			t.Fatalf("second round: accepted %v", got)
		}
		for h := range got {
			later[h]++
		}
	}
	for h := 1; h <= 5; h++ {
		if later[h] < 36 || later[h] > 59 { // binomial with p 4/5: 48 +- 3.1
			t.Errorf("host %d was accepted %d times in a second round: want 48 of 60", h, later[h])
		}
	}
}

// A REQUEST is for the channels that the sender's shortest message fills in a
// data phase, and for no more than are free (PimEpoch::send_all_req).
func TestRequestsAskForWhatAMessageFills(t *testing.T) {
	packets := []uint32{48, 55, 56, 110, 111, 1000}
	c := newSeededCore(t, rack(t, len(packets)+1), 1)
	for i, n := range packets {
		c.get(0, topo.HostID(i+1), dcpim.Header{Kind: "RTS", Length: n * mss}, 0)
	}
	want := []int{1, 1, 2, 2, 3, 4}
	share := uint32(c.ChannelPackets())
	for i, n := range packets {
		want[i] = min(4, int((n+share-1)/share))
	}
	n := 0
	for _, p := range c.all(c.Round()) {
		if p.Kind != "REQUEST" {
			continue
		}
		n++
		if p.Channels != want[p.To-1] || p.Remaining != packets[p.To-1] || p.Round != 1 {
			t.Errorf("%+v: want %d channels in round 1", p, want[p.To-1])
		}
	}
	if n != len(packets) {
		t.Errorf("%d requests, want %d", n, len(packets))
	}
}

// README, Matching: GRANTSR takes channels back if ACCEPTs would exceed k
// (pimhost.cpp, receive_accept_pkt). It takes ACCEPTs of two rounds for that;
// the excess of the second one is taken back, and its duplicate changes
// nothing.
func TestGrantSRTakesBackWhatIsAboveK(t *testing.T) {
	c := inSenderCore(t, 1, 3)
	c.all(c.Round())
	c.get(c.Round()+1000, 1, dcpim.Header{Kind: "ACCEPT", Round: 0, Channels: 3}, 0)
	c.get(c.Round()+1000, 1, dcpim.Header{Kind: "ACCEPT", Round: 0, Channels: 3}, 0)
	if got := c.all(c.Round() + 1000); len(got) != 0 {
		t.Errorf("three channels of four: %+v", got)
	}
	c.all(2 * c.Round())
	c.get(2*c.Round()+1000, 2, dcpim.Header{Kind: "ACCEPT", Round: 1, Channels: 3}, 0)
	c.get(2*c.Round()+1000, 2, dcpim.Header{Kind: "ACCEPT", Round: 1, Channels: 3}, 0)
	got := c.all(2*c.Round() + 1000)
	if len(got) != 1 || got[0].Kind != "GRANTSR" || got[0].To != 2 || got[0].Channels != 2 || got[0].Round != 1 {
		t.Errorf("six channels of four: %+v", got)
	}
	if got := c.grants(3, []uint32{100, 100, 100}); len(got) != 0 {
		t.Errorf("granted %v with no channel free", got)
	}
}

// The receiver loses those channels, whether or not the data phase has begun,
// and paces its tokens by the rest.
func TestReceiverGivesBackWhatGrantSRTakes(t *testing.T) {
	for _, after := range []bool{false, true} {
		packets := []uint32{1000, 2000}
		c := inReceiverCore(t, 1, packets)
		if got := c.accepts(0, []int{3, 1}, packets); got[1] != 3 || got[2] != 1 {
			t.Fatalf("accepted %v", got)
		}
		takeBack := func(now units.Time) {
			for range 2 {
				c.get(now, 1, dcpim.Header{Kind: "GRANTSR", Round: 0, Channels: 2}, 0)
			}
		}
		if !after {
			takeBack(2 * c.Round())
		}
		now := c.Phase(0)
		c.all(now)
		if after {
			if c.With(1) != 3 || c.ReceiverChannels() != 4 {
				t.Errorf("matched %d of %d", c.With(1), c.ReceiverChannels())
			}
			takeBack(now + 100)
			now += 2 * units.Microsecond // what was paced before has been sent
		}
		if c.With(1) != 1 || c.With(2) != 1 || c.ReceiverChannels() != 2 || c.Broken() != "" {
			t.Errorf("after GRANTSR: %d and %d of %d channels; %s", c.With(1), c.With(2), c.ReceiverChannels(),
				c.Broken())
		}
		// Two channels of four: 8 packets each in 8 x 4 packet times.
		tokens := map[topo.HostID]int{}
		for end := now + 8*4*123; now < end; now += 20 {
			for _, p := range c.all(now) {
				if p.Kind == "TOKEN" {
					tokens[p.To]++
				}
			}
		}
		if tokens[1] < 7 || tokens[1] > 9 || tokens[2] < 7 || tokens[2] > 9 {
			t.Errorf("tokens %v, want 8 each", tokens)
		}
	}
}

// A packet late for its half of the round is ignored, as by
// PimEpoch::receive_req and receive_grants.
func TestLateMatchingPacketsAreIgnored(t *testing.T) {
	c := inSenderCore(t, 1, 2)
	c.all(c.Round() / 2)
	c.get(c.Round()/2+1, 1, dcpim.Header{Kind: "REQUEST", Round: 0, Channels: 1}, 0)
	for now := c.Round() / 2; now < 4*c.Round(); now += c.Round() / 2 {
		for _, p := range c.all(now) {
			if p.Kind == "GRANT" {
				t.Errorf("%+v for a late request", p)
			}
		}
	}
	packets := []uint32{1000}
	c = inReceiverCore(t, 1, packets)
	c.all(c.Round())
	c.get(c.Round()+1, 1, dcpim.Header{Kind: "GRANT", Round: 0, Channels: 1}, 0)
	for _, p := range c.all(2 * c.Round()) {
		if p.Kind == "ACCEPT" {
			t.Errorf("%+v for a late grant", p)
		}
	}
	// At the instant of the step it is still in time.
	c = inSenderCore(t, 1, 2)
	c.get(c.Round()/2, 1, dcpim.Header{Kind: "REQUEST", Round: 0, Channels: 1}, 0)
	if got := c.all(c.Round() / 2); len(got) != 1 || got[0].Kind != "GRANT" {
		t.Errorf("request in the instant of the step: %+v", got)
	}
}

// A duplicate REQUEST gets one grant.
func TestDuplicateRequestCountsOnce(t *testing.T) {
	c := inSenderCore(t, 1, 2)
	for range 3 {
		c.get(100, 1, dcpim.Header{Kind: "REQUEST", Round: 0, Channels: 4}, 0)
	}
	if got := c.all(c.Round() / 2); len(got) != 1 || got[0].Channels != 4 {
		t.Errorf("%+v", got)
	}
}
