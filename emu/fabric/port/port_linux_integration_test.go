//go:build linux

package port

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/emu/fabric/rtnl"
	"sirdbed/emu/internal/burst"
	"sirdbed/sirdnode/nstest"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo/units"
)

func TestMain(m *testing.M) { nstest.Main(m) }

func TestRatesAreWireRates(t *testing.T) {
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	for _, c := range []struct {
		rate          units.BitsPerSecond
		frame, frames int
	}{
		{20 * units.Mbps, fullFrame, 100},
		{2 * units.Mbps, burst.Shortest, 100}, // the 84-byte minimum counts
		{200 * units.Mbps, 1000, 300},
	} {
		t.Run(fmt.Sprintf("%v of %d bytes", c.rate, c.frame), func(t *testing.T) {
			config := Config{Rate: c.rate}
			// A machine that stalls between a departure and its timestamp spoils
			// a measurement, but not one after the other.
			var err error
			for range 3 {
				h := newBench(t, config)
				_, err = h.sender.Send(h.frames(0, c.frames, c.frame, 0)...)
				h.must(err)
				var got []burst.Arrival
				got, err = h.receiver.Collect(c.frames, silence)
				h.must(err)
				if len(got) != c.frames {
					t.Fatalf("%d of %d packets arrived", len(got), c.frames)
				}
				if err = errors.Join(checkSpacing(got, config), checkDuration(got, c.frame, c.rate)); err == nil {
					return
				}
				t.Log(err)
			}
			t.Error(err)
		})
	}
}

// Rates of more than 32 bits of bytes a second have attributes of their own.
func TestRatesOver34Gigabit(t *testing.T) {
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	for _, c := range []Config{
		{Rate: 100 * units.Gbps, Burst: 150000},
		{Rate: 400 * units.Gbps, Burst: 150000, Priorities: 2},
	} {
		h := newBench(t, c)
		const packets = 200
		_, err := h.sender.Send(h.frames(0, packets, fullFrame, 0)...)
		h.must(err)
		got, err := h.receiver.Collect(packets, silence)
		h.must(err)
		// 200 full frames take 25 us at 100 Gbit/s; at a rate cut to 32 bits
		// (34 Gbit/s and less) nothing would show here, but a rate of 0 would.
		if len(got) != packets {
			t.Errorf("%v: %d of %d packets arrived", c.Rate, len(got), packets)
		}
	}
}

// The lower a packet's precedence, the later it goes, whatever was there first.
// Of each class one packet may go out of turn (see MaxBurst).
func TestPrioritiesAreStrict(t *testing.T) {
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	const levels, each = 4, 10
	config := Config{Rate: 10 * units.Mbps, Priorities: levels}
	_, got := atOnce(t, config, func(h *bench) (list [][]byte) {
		for level := range byte(levels) {
			list = append(list, h.frames(uint32(level)*each, each, fullFrame, level<<5)...)
		}
		return list
	}, wireTime(fullFrame, config.Rate))
	if len(got) != levels*each {
		t.Fatalf("%d of %d packets arrived", len(got), levels*each)
	}
	if err := checkSpacing(got, config); err != nil {
		t.Error(err)
	}
	ahead := 0
	for i := range got {
		for j := i + 1; j < len(got); j++ {
			if got[j].TOS > got[i].TOS {
				ahead++
				break
			}
		}
	}
	if ahead > levels {
		t.Errorf("%d packets left before one of a higher level: want one of each level at most", ahead)
	}
}

// Precedences above the last level are of the last level, so that a protocol may
// use 0 and 7 with two levels.
func TestHighPrecedencesShareTheLastLevel(t *testing.T) {
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	h := newBench(t, Config{Rate: units.Gbps, Priorities: 3})
	for precedence := range byte(8) {
		_, err := h.sender.Send(h.frames(0, int(precedence)+1, 100, precedence<<5)...)
		h.must(err)
	}
	_, err := h.receiver.Collect(36, silence)
	h.must(err)
	s := h.stats()
	for level, want := range []uint64{1, 2, 3 + 4 + 5 + 6 + 7 + 8} {
		if got := s.Queues[level].SentPackets; got != want {
			t.Errorf("level %d sent %d packets, want %d", level, got, want)
		}
	}
}

func TestQueueLimitDropsAndCounts(t *testing.T) {
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	const sent, room = 50, 10
	config := Config{Rate: 10 * units.Mbps, Limit: room*fullFrame + 100}
	h, got := atOnce(t, config, func(h *bench) [][]byte { return h.frames(0, sent, fullFrame, 0) },
		wireTime(fullFrame, config.Rate))
	drops, credits := new(h.stats()).Drops()
	if len(got)+int(drops) != sent || credits != 0 {
		t.Errorf("%d sent, %d arrived, %d dropped, %d credits dropped", sent, len(got), drops, credits)
	}
	// One leaves at once, and perhaps another while the burst is sent.
	if want := int64(sent - room - 1); drops != want && drops != want-1 {
		t.Errorf("%d drops, want %d", drops, want)
	}
}

func TestBacklogIsWhatHasNotLeft(t *testing.T) {
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	const sent = 60
	config := Config{Rate: 10 * units.Mbps, Priorities: 2}
	h := newBench(t, config)
	_, err := h.sender.Send(append(h.frames(0, sent/2, fullFrame, 0), h.frames(0, sent/2, 500, 0xe0)...)...)
	h.must(err)
	seen := 0
	for range 1000 {
		s := h.stats()
		bytes, packets := s.Backlog()
		_, left := s.Sent()
		// A packet that leaves while the queues are read, one by one, may be in neither.
		if seen := packets + left; seen != sent && seen != sent-1 {
			t.Fatalf("%d waiting and %d gone of %d", packets, left, sent)
		}
		low, high := s.Queues[0], s.Queues[1]
		if low.Bytes != low.Packets*fullFrame || high.Bytes != high.Packets*500 ||
			bytes != int64(low.Bytes+high.Bytes) {
			t.Fatalf("backlog %d bytes of %+v and %+v", bytes, low, high)
		}
		if packets == 0 {
			break
		}
		seen++
		time.Sleep(time.Millisecond)
	}
	if seen < 3 {
		t.Errorf("%d samples saw a backlog", seen)
	}
	if _, err := h.receiver.Collect(sent, silence); err != nil {
		t.Error(err)
	}
	if want := int64(sent/2*(fullFrame+500) + sent*int(wireOverhead)); new(h.stats()).SentWireBytes() != want {
		t.Errorf("sent %d wire bytes, want %d", new(h.stats()).SentWireBytes(), want)
	}
}

// The credit class lets through its burst and its queue, and drops the rest. The
// other traffic does not notice.
func TestCreditClassIsLimited(t *testing.T) {
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	const credits, data = 40, 20
	config := Config{Rate: 20 * units.Mbps, Credit: Credit{Share: 0.05}}
	h, got := atOnce(t, config, func(h *bench) [][]byte {
		return append(h.frames(0, credits, 60, wire.CreditTOS|0xe0), h.frames(100, data, fullFrame, 0)...)
	}, wireTime(int(wireMinimum-wireOverhead), config.Rate/20))
	var through int
	var at []burst.Arrival
	for _, a := range got {
		if a.ID < 100 {
			through++
			at = append(at, a)
		}
	}
	s := h.stats()
	if _, drops := s.Drops(); len(got)-through != data || through+int(drops) != credits {
		t.Errorf("%d data packets of %d, %d credits of %d and %d dropped", len(got)-through, data, through, credits,
			drops)
	}
	if least, most := 8+transport.CreditBurst, 8+transport.CreditBurst+2; through < least || through > most {
		t.Errorf("%d credits came through, want %d to %d", through, least, most)
	}
	// Behind the burst they come at 1 Mbit/s.
	each := wireTime(60, config.Rate/20)
	if n := len(at) - 1; n > 4 && time.Duration(at[n].At-at[n-4].At) < 4*each*9/10 {
		t.Errorf("4 credits in %v, want %v", time.Duration(at[n].At-at[n-4].At), 4*each)
	}
}

func TestReadingAllocatesNextToNothing(t *testing.T) {
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	h := newBench(t, Config{Rate: units.Gbps, Priorities: 8})
	var s [1]Stats
	if n := testing.AllocsPerRun(100, func() { h.must(Read(h.conn, s[:], h.index, 1)) }); n > 3 {
		t.Errorf("%v allocations a reading", n)
	}
}

// What is redirected at ingress comes out of the ifb device and goes on up the
// stack: the way of every wire. The ifb has a port here in place of netem, which
// not every kernel has.
func TestRedirectGoesThroughTheIFB(t *testing.T) {
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	h := newBench(t, Config{Rate: units.Gbps})
	const packets, ifb = 30, 1000
	config := Config{Rate: 20 * units.Mbps}
	var b rtnl.Batch
	b.Request("add link ifb", "wire", unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL, rtnl.Link(ifb, 0, 0))
	b.String(unix.IFLA_IFNAME, "wire")
	b.Nest(unix.IFLA_LINKINFO, nil, func() { b.String(unix.IFLA_INFO_KIND, "ifb") })
	h.must(config.Install(&b, ifb, "wire"))
	b.Request("bring up", "wire", unix.RTM_NEWLINK, 0, rtnl.Link(ifb, unix.IFF_UP, unix.IFF_UP))
	var conn *rtnl.Conn
	h.must(h.far.Do(func() error {
		i, err := net.InterfaceByName(nstest.VethB)
		if err != nil {
			return err
		}
		Redirect(&b, i.Index, nstest.VethB, ifb)
		conn, err = rtnl.Open()
		return err
	}))
	defer conn.Close()
	h.must(Explain(conn.Do(&b)))
	_, err := h.sender.Send(h.frames(0, packets, fullFrame, 0)...)
	h.must(err)
	got, err := h.receiver.Collect(packets, silence)
	h.must(err)
	if len(got) != packets {
		t.Fatalf("%d of %d packets arrived", len(got), packets)
	}
	var s [1]Stats
	h.must(Read(conn, s[:], ifb, 1))
	if _, n := s[0].Sent(); n != packets {
		t.Errorf("%d of %d packets went through the ifb", n, packets)
	}
}
