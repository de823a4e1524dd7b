package sird_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"sirdbed/emu/effort"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A trouble is what may happen to a host, or to its link, for a time.
type trouble struct {
	name    string
	out, in bool // what it sends, and what is sent to it

	lost, repeated, late float64    // share of these packets
	most                 units.Time // that they are late by, less than any packet is under way for (README, Restarts)
	longer               units.Time
	slower               int  // packets are as many times further apart
	paused               bool // it does nothing, and what arrives waits
	dies                 bool // it starts again when the time is over
}

var troubles = []trouble{
	{name: "dies and starts again", out: true, in: true, lost: 1, dies: true},
	{name: "link cut", out: true, in: true, lost: 1},
	{name: "cut from it", out: true, lost: 1},
	{name: "cut to it", in: true, lost: 1},
	{name: "loss", out: true, in: true, lost: 0.1},
	{name: "duplicates", out: true, in: true, repeated: 0.3},
	{name: "reordering", out: true, in: true, late: 0.2, most: 20 * units.Microsecond},
	{name: "few packets, very late", out: true, in: true, late: 0.03, most: 90 * units.Microsecond},
	{name: "long link", out: true, in: true, longer: 60 * units.Microsecond},
	{name: "slow link", out: true, slower: 20},
	{name: "pause", paused: true},
}

// A span is trouble of a host for a time.
type span struct {
	trouble
	host     topo.HostID
	from, to units.Time
	over     bool // the host has started again
}

func (s *span) String() string {
	return fmt.Sprintf("%s of host %d, %v to %v", s.name, s.host, s.from, s.to)
}

// struck returns the troubles that a packet meets.
func (w *town) struck(src, dst topo.HostID, each func(*span)) {
	for k := range w.troubled {
		if s := &w.troubled[k]; w.now >= s.from && w.now < s.to && (s.out && s.host == src || s.in && s.host == dst) {
			each(s)
		}
	}
}

// still reports whether a host sends nothing now, and paused whether it does nothing at all.
func (w *town) still(h topo.HostID) bool {
	return w.suffers(h, func(s *span) bool {
		return s.paused || s.slower > 0 && w.now/123%units.Time(s.slower) != 0
	})
}
func (w *town) paused(h topo.HostID) bool {
	return w.suffers(h, func(s *span) bool { return s.paused })
}

func (w *town) suffers(h topo.HostID, what func(*span) bool) bool {
	for k := range w.troubled {
		if s := &w.troubled[k]; s.host == h && w.now >= s.from && w.now < s.to && what(s) {
			return true
		}
	}
	return false
}

// suffer returns the times at which copies of a packet arrive.
func (w *town) suffer(src, dst topo.HostID) (at []units.Time) {
	delay, copies := units.Time(3700), 1
	w.struck(src, dst, func(s *span) {
		switch {
		case w.rng.Float64() < s.lost:
			copies = 0
		case w.rng.Float64() < s.repeated:
			copies *= 2
		}
		if w.rng.Float64() < s.late {
			delay += units.Time(w.rng.Int64N(int64(s.most)))
		}
		delay += s.longer
	})
	for k := range copies {
		at = append(at, w.now+delay+units.Time(k*w.rng.IntN(5000)))
	}
	return at
}

// Exactly once to each life, credit back to zero and none minted, whatever two troubles come
// together. Without a restart, and with patience, every message is delivered.
func TestExactlyOnceUnderAnyTwoFaults(t *testing.T) {
	n := len(troubles)
	for seed := range uint64(effort.Count(t, "SIRDBED_SEEDS", 12*n*n)) {
		r := rand.New(rand.NewPCG(seed, 11))
		patient := r.IntN(3) > 0
		w := newTown(t, 4, seed, 0, func(p *sird.Params) {
			p.UnschT = sird.Multiple(r.IntN(2)) // without prefixes more credit is out
			if !patient {                       // messages are abandoned, announced anew or given up
				p.MaxResends = 2
			}
		})
		restarts := 0
		for k := range 2 {
			s := span{trouble: troubles[int(seed)/[]int{1, n}[k]%n], host: topo.HostID(r.IntN(4)),
				from: units.Time(r.IntN(300_000))}
			s.to = s.from + units.Time(5_000+r.IntN(400_000))
			if s.dies {
				restarts++
				if r.IntN(2) == 0 { // what it sent before arrives after it has begun anew
					s.to = s.from + units.Time(r.IntN(20_000))
				}
			}
			w.troubled = append(w.troubled, s)
		}
		fail := func(format string, a ...any) {
			t.Helper()
			t.Fatalf("seed %d, %v and %v: %s", seed, &w.troubled[0], &w.troubled[1], fmt.Sprintf(format, a...))
		}
		step := func(until units.Time) {
			for w.now < until {
				w.run(min(until, w.now+5*units.Microsecond))
				for k := range w.troubled {
					if s := &w.troubled[k]; s.dies && w.now >= s.to && !s.over {
						s.over = true
						w.restart(t, s.host)
					}
				}
				if wrong := w.sums(); wrong != "" {
					fail("%s", wrong)
				}
			}
		}
		for range 24 {
			src := topo.HostID(r.IntN(4))
			w.send(src, (src+1+topo.HostID(r.IntN(3)))%4, 1+units.Bytes(r.IntN(1<<(4+r.IntN(18)))))
			step(w.now + units.Time(r.IntN(40_000)))
		}
		step(max(w.now, w.troubled[0].to, w.troubled[1].to) + units.Millisecond)
		for end := w.now + 40*units.Millisecond; w.busy() && w.now < end; {
			step(w.now + units.Millisecond)
		}
		w.check(t, seed)
		for tag, o := range w.offered {
			if restarts == 0 && patient && (o.acked != 1 || len(o.delivered) != 1) {
				fail("message %d: %d acknowledgements, %d deliveries, failed %q", tag, o.acked, len(o.delivered),
					o.failed)
			}
		}
	}
}
