//go:build linux

package port

import (
	"testing"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/internal/conformance"
	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/nstest"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo/units"
)

// tolerance is what timestamps may be off, by the kernel's clock: HTB counts time
// in whole ns for each packet, and reading the clock costs one.
const tolerance = 64 * time.Nanosecond

// With RED the port does what it should to the packet and to the ns, where time
// stands still while a burst is sent. The second packet is a byte early: the
// burst. (On a fabric the wire evens that out.)
func TestExactConformance(t *testing.T) {
	alone(t)
	for _, c := range conformance.Cases() {
		for _, levels := range []emu.Levels{emu.HTBClasses, emu.PrioBands} {
			if levels == emu.HTBClasses && c.Mark > 0 && c.Priorities > 1 {
				continue // RED does not mark those
			}
			t.Run(c.Name+", "+levels.String(), func(t *testing.T) {
				config := portOf(&c, emu.RED)
				config.Levels = levels
				if levels == emu.PrioBands {
					c.Prelude = nil // nothing is lent, from the first packet on
				}
				exactly(t, &c, config)
			})
		}
	}
}

// alone is for tests that take exact time.
func alone(t *testing.T) {
	t.Helper()
	nstest.RequireExactTime(t)
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	if err := clock.LockThread(); err != nil {
		t.Fatal(err)
	}
}

// exactly has a port meet a case.
func exactly(t *testing.T, c *conformance.Case, config Config) {
	t.Helper()
	h := newBench(t, config)
	before, got := h.meet(c)
	after := h.stats()
	drops, creditDrops := after.Drops()
	dropped, creditDropped := before.Drops()
	got.Drops, got.CreditDrops = int(drops-dropped), int(creditDrops-creditDropped)
	if err := c.Check(got, conformance.Allowance{Gap: int64(tolerance) * 1000, Burst: 1}); err != nil {
		t.Error(err)
	}
	h.checkCount(marked(got))
}

// sch_prio is strict for longer than the minute after which HTB lends a class its
// next packet.
func TestExactPrioLendsNothing(t *testing.T) {
	alone(t)
	c := conformance.Case{Rate: 100 * units.Kbps, Priorities: 2} // 123 ms a packet
	for i := range uint32(1200) {
		c.Burst = append(c.Burst, conformance.Frame{ID: i, Length: fullFrame, Precedence: uint8(i % 2)})
	}
	config := portOf(&c, emu.RED)
	config.Levels = emu.PrioBands
	exactly(t, &c, config)
}

// The eBPF marker keeps a queue of its own, and this machine's clock does not
// stand still: of a burst sent within a packet time it marks what it should, to
// two packets of each level.
func TestConformanceOfTheMarker(t *testing.T) {
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	for _, c := range conformance.Cases() {
		if c.Mark == 0 {
			continue
		}
		c.Rate = markRate // time enough to send a burst
		t.Run(c.Name, func(t *testing.T) {
			const attempts = 10
			for range attempts {
				h := newBench(t, portOf(&c, emu.EBPF))
				_, got := h.meet(&c)
				if h.took > wireTime(fullFrame, c.Rate) {
					t.Logf("the burst took %v", h.took)
					continue
				}
				if err := c.Check(got, conformance.Allowance{Marks: 2, Order: true}); err != nil {
					t.Error(err)
				}
				h.checkCount(marked(got))
				return
			}
			t.Skipf("this machine was too busy to send a burst within %v in %d attempts", wireTime(fullFrame, c.Rate),
				attempts)
		})
	}
}

// portOf is a case's port.
func portOf(c *conformance.Case, m emu.Marker) Config {
	return Config{
		Rate: c.Rate, Priorities: c.Priorities, Limit: c.Limit, Mark: c.Mark, Marker: m,
		Credit: Credit{Share: c.Share, Packets: c.Credits},
	}
}

// meet sends a case's prelude and then its burst, and returns the port's counts
// in between and what left.
func (h *bench) meet(c *conformance.Case) (before Stats, got conformance.Result) {
	h.t.Helper()
	_, err := h.sender.Send(h.framesOf(c.Prelude)...)
	h.must(err)
	_, err = h.receiver.Collect(len(c.Prelude), silence)
	h.must(err)
	// What HTB lent is paid back, and the last one through.
	time.Sleep(time.Duration(len(c.Prelude)+2) * wireTime(fullFrame, c.Rate))
	before = h.stats()
	if list := h.framesOf(c.Burst); c.Spacing == 0 {
		h.took, err = h.sender.Send(list...)
		h.must(err)
	} else {
		begin := clock.Monotonic()
		for i, frame := range list {
			h.must(clock.SleepUntil(begin + int64(i)*int64(c.Spacing)))
			_, err = h.sender.Send(frame)
			h.must(err)
		}
	}
	arrivals, err := h.receiver.Collect(len(c.Burst), silence)
	h.must(err)
	for _, a := range arrivals {
		got.Departures = append(got.Departures, conformance.Departure{
			Frame: c.Burst[a.ID], Marked: a.TOS&ce == ce, At: (a.At - arrivals[0].At) * 1000,
		})
	}
	return before, got
}

func (h *bench) framesOf(list []conformance.Frame) (frames [][]byte) {
	for _, f := range list {
		tos := f.Precedence << 5
		if f.ECT {
			tos |= ect0
		}
		if f.Credit {
			tos |= wire.CreditTOS
		}
		frames = append(frames, h.flow.Frame(f.ID, f.Length, tos))
	}
	return frames
}

func marked(r conformance.Result) (n int) {
	for _, d := range r.Departures {
		if d.Marked {
			n++
		}
	}
	return n
}
