package xpass_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"sirdbed/baselines/xpass"
	"sirdbed/emu/model"
	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// seeds is how many random runs the loss tests make. SIRDBED_SEEDS sets it for
// a longer search.
func seeds() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("SIRDBED_SEEDS"), 10, 64); err == nil {
		return n
	}
	return 500
}

// Exactly once, with verified bytes, under 5 % each of loss, duplication,
// reordering and corruption; and when all is done nothing is kept.
func TestExactlyOnceUnderFaults(t *testing.T) {
	f := fabric(t, small)
	for seed := range seeds() {
		if err := faultyRun(f, seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
			if t.Failed() && seed > 20 {
				t.FailNow()
			}
		}
	}
}

func faultyRun(f *topo.Fabric, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 7))
	p := xpass.Protocol.DefaultParams(f).(*xpass.Params)
	p.Connections = []int{1, 3, 40}[r.IntN(3)]
	p.EarlyStop = []float64{0, 1, 1}[r.IntN(3)]
	sizes := []int{8, mss, mss + 1, 50_000, 150_000, 400_000}
	var sends []model.Send
	for range 4 + r.IntN(12) {
		src := topo.HostID(r.IntN(4))
		s := model.Send{
			At: units.Time(r.IntN(200_000)), Src: src, Dst: (src + 1 + topo.HostID(r.IntN(3))) % 4,
			Size: units.Bytes(1 + r.IntN(sizes[r.IntN(len(sizes))])),
		}
		if r.IntN(3) == 0 {
			s.Reply = 8
		}
		sends = append(sends, s)
	}
	sim, err := model.New(model.Config{
		Fabric: f, Protocol: xpass.Protocol, Params: p, Seed: seed, Sends: sends, Bytes: true,
		Faults: fault.Config{Drop: 0.05, Duplicate: 0.05, Reorder: 0.05, Corrupt: 0.05},
	})
	if err != nil {
		return err
	}
	if !sim.RunUntilDone(5 * units.Second) {
		return fmt.Errorf("not done after 5 s: %s", undone(sim))
	}
	sim.Run(sim.Now() + 2*p.StopTimeout) // late duplicates and answers
	want := int64(0)
	for _, m := range sim.Messages() {
		want += int64(m.Size)
		if m.Delivered == units.Never || m.Failed != units.Never {
			return fmt.Errorf("message %+v", m)
		}
	}
	total := sim.Totals()
	if total.Delivered != total.Offered || total.Acked != total.Offered || total.Mismatches != 0 {
		return fmt.Errorf("%+v", total.Counts)
	}
	if total.Payload != want {
		return fmt.Errorf("%d payload bytes arrived for the first time, want %d", total.Payload, want)
	}
	for _, h := range f.Hosts {
		if leak := at(sim, h).Leaks(); leak != "" {
			return fmt.Errorf("%s: %s", f.HostName(h), leak)
		}
	}
	return nil
}

// Each kind of packet may be lost, once or several times in a row, first or
// last of its kind: the message arrives all the same, and soon.
func TestEachKindOfPacketMayBeLost(t *testing.T) {
	f := rack(t, 2)
	for _, kind := range []string{"CREDIT_REQUEST", "CREDIT", "DATA", "CREDIT_STOP", "ACK"} {
		for _, size := range []units.Bytes{8, 5 * mss, 100 * mss} {
			for _, skip := range []int{0, 1, 4} {
				for _, count := range []int{1, 3} {
					passed, left := 0, count
					sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: size}}, Bytes: true,
						Lose: func(e model.PacketEvent) bool {
							if left == 0 || e.Port != f.Uplink(e.Src) || xpass.Parse(e.Packet.Header()).Kind != kind {
								return false
							}
							if passed++; passed <= skip {
								return false
							}
							left--
							return true
						}})
					limit := units.Millisecond
					allDone(t, f, sim, limit)
					if t.Failed() {
						t.Fatalf("%s, %v, %d lost after %d", kind, size, count, skip)
					}
				}
			}
		}
	}
}

// A lost data packet is known by the one behind it: the sender has it asked for
// within a round trip, not after a timeout.
func TestGapIsAskedForAtOnce(t *testing.T) {
	f := rack(t, 2)
	lost, lostAt, againAt := false, units.Time(0), units.Time(0)
	sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: 400 * mss}}, Bytes: true,
		OnPacket: func(e model.PacketEvent) {
			if h := xpass.Parse(e.Packet.Header()); h.Kind == "DATA" && h.Offset == 100*mss && e.Kind == model.Transmitted && e.Port == f.Uplink(0) && lost {
				againAt = e.At
			}
		},
		Lose: func(e model.PacketEvent) bool {
			h := xpass.Parse(e.Packet.Header())
			if lost || h.Kind != "DATA" || h.Offset != 100*mss {
				return false
			}
			lost, lostAt = true, e.At
			return true
		}})
	allDone(t, f, sim, units.Millisecond)
	if rtt := 5400 * units.Nanosecond; againAt-lostAt > 2*rtt || againAt == 0 {
		t.Errorf("sent again %v after it was lost", againAt-lostAt)
	}
	if n := counted(f, sim, "retransmissions"); n != 1 {
		t.Errorf("%d packets sent again", n)
	}
}

// A receiver that never answers makes the message fail, with the reason; a
// sender that falls silent gets no credits for longer than the stop timeout.
func TestGivingUp(t *testing.T) {
	f := rack(t, 2)
	p := params(f, func(p *xpass.Params) { p.MaxAttempts = 7 })
	sim := newSim(t, model.Config{Fabric: f, Params: p, Sends: []model.Send{{Dst: 1, Size: 5000}},
		Lose: func(e model.PacketEvent) bool { return e.Src == 1 }})
	if !sim.RunUntilDone(10 * units.Millisecond) {
		t.Fatal("still trying")
	}
	m := sim.Messages()[0]
	if m.Failed == units.Never || m.Failed < 800*units.Microsecond || m.Failed > 810*units.Microsecond ||
		m.Reason != "h1-2 did not answer 7 attempts, 100us apart" {
		t.Errorf("%+v", m)
	}
	noLeaks(t, f, sim)

	gone := units.Time(0)
	sim = newSim(t, model.Config{Fabric: f, Params: p, Sends: []model.Send{{Dst: 1, Size: 10_000_000}},
		Lose: func(e model.PacketEvent) bool { return e.Src == 0 && e.At > 100*units.Microsecond },
		OnPacket: func(e model.PacketEvent) {
			if e.Src == 1 && e.Packet.Credit {
				gone = e.At
			}
		}})
	sim.Run(20 * units.Millisecond)
	if gone < 2*units.Millisecond || gone > 2200*units.Microsecond || counted(f, sim, "credits_stopped_by_silence") != 1 {
		t.Errorf("credits until %v", gone)
	}
}

func undone(sim *model.Sim) (s string) {
	for _, m := range sim.Messages() {
		if m.Acked == units.Never {
			s += fmt.Sprintf("%+v ", m)
		}
	}
	return s
}
