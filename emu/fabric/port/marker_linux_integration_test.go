//go:build linux

package port

import (
	"testing"

	"sirdbed/emu"
	"sirdbed/emu/internal/burst"
	"sirdbed/sirdnode/nstest"
	"sirdbed/topo/units"
)

// ECN codepoints, in the TOS octet.
const (
	notECT = 0
	ect1   = 1
	ect0   = 2
	ce     = 3
)

// Both markers meet the same claims; each is skipped where the machine
// lacks it.
func eachMarker(t *testing.T, claim func(t *testing.T, m emu.Marker)) {
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	for _, m := range []emu.Marker{emu.RED, emu.EBPF} {
		t.Run(m.String(), func(t *testing.T) { claim(t, m) })
	}
}

const (
	markRate = 20 * units.Mbps
	markStep = 30000
)

// 100 packets at 20 Mbit/s against a step of 30,000 bytes: the first leaves at
// once, and each packet from the 22nd on finds at least 20 waiting. 79 are
// marked, or 78 if a second one leaves while the burst is sent.
func TestMarksOfAKnownBurst(t *testing.T) {
	eachMarker(t, func(t *testing.T, m emu.Marker) {
		for _, ecn := range []byte{ect0, ect1} {
			h, got := atOnce(t, Config{Rate: markRate, Mark: markStep, Marker: m},
				func(h *bench) [][]byte { return h.frames(0, 100, fullFrame, ecn) }, wireTime(fullFrame, markRate))
			if len(got) != 100 {
				t.Fatalf("%d of 100 packets arrived", len(got))
			}
			marks, first := marksOf(t, got, ecn)
			if marks < 76 || marks > 81 {
				t.Errorf("%d marks, want 78 or 79", marks)
			}
			if 100-first != marks {
				t.Errorf("%d marks, but not on the last packets: the first is on packet %d", marks, first)
			}
			h.checkCount(marks)
		}
	})
}

// marksOf counts the marked packets and finds the first. Marking must leave the
// IP checksum right, and the rest of the octet alone.
func marksOf(t *testing.T, got []burst.Arrival, sent byte) (marks, first int) {
	t.Helper()
	first = len(got)
	for i, a := range got {
		if !a.Intact {
			t.Fatalf("packet %d: wrong IP checksum", i)
		}
		switch a.TOS {
		case sent | ce:
			marks++
			first = min(first, int(a.ID))
		case sent:
		default:
			t.Fatalf("packet %d: sent with TOS %#x, arrived with %#x", i, sent, a.TOS)
		}
	}
	return marks, first
}

// checkCount compares the port's own count of marks.
func (h *bench) checkCount(want int) {
	h.t.Helper()
	counted := h.stats().Marked
	if h.markers != nil {
		s, err := h.markers.Read(h.index)
		h.must(err)
		counted = s.Marked
		var sum uint64
		for _, n := range s.Histogram {
			sum += n
		}
		if sum != s.Packets {
			h.t.Errorf("a histogram of %d packets, %d counted", sum, s.Packets)
		}
	}
	if counted != uint64(want) {
		h.t.Errorf("the port counted %d marks, %d packets carry one", counted, want)
	}
}

func TestNotECTIsNeverMarked(t *testing.T) {
	eachMarker(t, func(t *testing.T, m emu.Marker) {
		h := newBench(t, Config{Rate: markRate, Mark: markStep, Marker: m})
		_, err := h.sender.Send(h.frames(0, 100, fullFrame, notECT)...)
		h.must(err)
		got, err := h.receiver.Collect(100, silence)
		h.must(err)
		if len(got) != 100 {
			t.Fatalf("%d of 100 packets arrived: Not-ECT must not be dropped either", len(got))
		}
		for i, a := range got {
			if a.TOS != notECT || !a.Intact {
				t.Fatalf("packet %d arrived with TOS %#x, checksum right: %v", i, a.TOS, a.Intact)
			}
		}
		h.checkCount(0)
	})
}

// A packet is marked for what waits in all levels: urgent ones that find their own
// level empty too.
func TestMarkersCountAllLevels(t *testing.T) {
	eachMarker(t, func(t *testing.T, m emu.Marker) {
		const low, high = 60, 10
		config := Config{Rate: markRate, Mark: markStep, Marker: m, Priorities: 2}
		if m == emu.RED {
			config.Levels = emu.PrioBands
		}
		_, got := atOnce(t, config, func(h *bench) [][]byte {
			return append(h.frames(0, low, fullFrame, ect0), h.frames(1000, high, fullFrame, 0xe0|ect0)...)
		}, wireTime(fullFrame, markRate))
		var marks [2]int
		for _, a := range got {
			if a.TOS&ce == ce {
				marks[a.ID/1000]++
			}
		}
		if marks[0] < low-24 || marks[1] != high {
			t.Errorf("%d marks of %d packets in the low level, %d of %d in the high one", marks[0], low, marks[1], high)
		}
	})
}

// A queue that has drained is forgotten: the next burst is marked like the
// first.
func TestMarkersForgetWhatHasDrained(t *testing.T) {
	eachMarker(t, func(t *testing.T, m emu.Marker) {
		h := newBench(t, Config{Rate: markRate, Mark: markStep, Marker: m})
		for range 2 {
			_, err := h.sender.Send(h.frames(0, 60, fullFrame, ect0)...)
			h.must(err)
			_, err = h.receiver.Collect(60, silence)
			h.must(err)
		}
		// The queue is empty: these leave at once or nearly.
		_, err := h.sender.Send(h.frames(0, 15, fullFrame, ect0)...)
		h.must(err)
		got, err := h.receiver.Collect(15, silence)
		h.must(err)
		if marks, _ := marksOf(t, got, ect0); marks != 0 || len(got) != 15 {
			t.Errorf("%d marks on %d packets that met an empty port", marks, len(got))
		}
	})
}
