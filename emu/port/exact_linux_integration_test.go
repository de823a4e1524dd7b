package port

import (
	"fmt"
	"testing"
	"time"

	"sirdbed/emu/internal/burst"
	"sirdbed/sirdnode/nstest"
	"sirdbed/topo/units"
)

// Claims about ports that hold to the packet and to the ns where time stands
// still while a burst is sent.

// tolerance is what timestamps may be off, by the kernel's clock: HTB counts time
// in whole ns for each packet, and reading the clock costs one.
const tolerance = 64 * time.Nanosecond

func exactly(t *testing.T) {
	t.Helper()
	nstest.RequireExactTime(t)
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
}

// Packets are spaced by exactly their time on the wire, the first two by a byte
// less: the burst. (On a fabric the wire evens that out.)
func TestExactSpacing(t *testing.T) {
	exactly(t)
	for _, rate := range []units.BitsPerSecond{10 * units.Mbps, 100 * units.Mbps, 400 * units.Mbps} {
		for _, frame := range []int{fullFrame, 1000, burst.Shortest} {
			config := Config{Rate: rate}
			h := newBench(t, config)
			const packets = 50
			_, err := h.sender.Send(h.frames(0, packets, frame, 0)...)
			h.must(err)
			got, err := h.receiver.Collect(packets, silence)
			h.must(err)
			if len(got) != packets {
				t.Fatalf("%d of %d packets arrived", len(got), packets)
			}
			each := wireTime(frame, rate)
			for i := 1; i < len(got); i++ {
				early := tolerance
				if i == 1 {
					early += time.Duration(rate.TimeFor(1)) // the burst
				}
				if gap := time.Duration(got[i].At - got[i-1].At); gap < each-early || gap > each+tolerance {
					t.Errorf("%v, %d bytes: packet %d came %v after the one before, want %v", rate, frame, i, gap, each)
					break
				}
			}
			whole, want := time.Duration(got[packets-1].At-got[1].At), each*(packets-2)
			if off := float64(whole-want) / float64(want); off < -0.001 || off > 0.001 {
				t.Errorf("%v, %d bytes: %d packets in %v, want %v: %.3f %% off", rate, frame, packets, whole, want, 100*off)
			}
		}
	}
}

// A packet is marked if at least step bytes wait in its level when it comes:
// packet by packet, for several steps, rates and numbers of levels.
func TestExactMarks(t *testing.T) {
	exactly(t)
	const packets = 100
	for _, step := range []units.Bytes{1, fullFrame, fullFrame + 1, 30000, 20 * fullFrame, 100000} {
		for _, levels := range []int{1, 2, 8} {
			for _, level := range []byte{0, 7} {
				if levels == 1 && level > 0 {
					continue
				}
				t.Run(fmt.Sprintf("step %d, %d levels, precedence %d", step, levels, level), func(t *testing.T) {
					config := Config{Rate: 100 * units.Mbps, Mark: step, Marker: RED, Priorities: levels}
					h, got := atOnce(t, config, func(h *bench) [][]byte {
						return h.frames(0, packets, fullFrame, level<<5|ect0)
					}, wireTime(fullFrame, config.Rate))
					if len(got) != packets {
						t.Fatalf("%d of %d packets arrived", len(got), packets)
					}
					marks := 0
					for i, a := range got {
						// The first leaves at once.
						waiting := units.Bytes(max(0, int(a.ID)-1) * fullFrame)
						want := waiting >= step
						if marked := a.TOS&ce == ce; marked != want {
							t.Errorf("packet %d met %d bytes: marked %v", i, waiting, marked)
						}
						if a.TOS&ce == ce {
							marks++
						}
					}
					h.checkCount(marks)
				})
			}
		}
	}
}

// With the same traffic in several levels each is marked for its own bytes.
func TestExactMarksOfSeveralLevels(t *testing.T) {
	exactly(t)
	const each, step = 40, 30000
	config := Config{Rate: 100 * units.Mbps, Mark: step, Marker: RED, Priorities: 4}
	h, got := atOnce(t, config, func(h *bench) (list [][]byte) {
		for i := range uint32(each) {
			for level := range byte(4) {
				list = append(list, h.frames(uint32(level)*1000+i, 1, fullFrame, level<<5|ect0)...)
			}
		}
		return list
	}, wireTime(fullFrame, config.Rate))
	var marks [4]int
	for _, a := range got {
		if a.TOS&ce == ce {
			marks[a.ID/1000]++
		}
	}
	s := h.stats()
	for level, n := range marks {
		// 20 full frames are the first to make 30,000 bytes. The first packet of each
		// level does not wait: HTB lends it (see MaxBurst).
		if want := each - 20 - 1; n != want {
			t.Errorf("level %d: %d of %d packets marked, want %d (%+v)", level, n, each, want, s.Queues[level])
		}
	}
}

// A full queue drops what does not fit, to the byte.
func TestExactQueueLimit(t *testing.T) {
	exactly(t)
	for _, held := range []int{1, 10, 33} {
		config := Config{Rate: 100 * units.Mbps, Limit: units.Bytes(held * fullFrame)}
		h, got := atOnce(t, config, func(h *bench) [][]byte { return h.frames(0, 50, fullFrame, 0) }, wireTime(fullFrame, config.Rate))
		drops, _ := ptr(h.stats()).Drops()
		if want := 50 - held - 1; int(drops) != want || len(got) != held+1 {
			t.Errorf("a queue for %d packets: %d of 50 arrived, %d dropped, want %d", held, len(got), drops, want)
		}
	}
}

// The credit class passes its burst and its queue, at its rate, and drops the
// rest.
func TestExactCreditClass(t *testing.T) {
	exactly(t)
	const credits = 40
	config := Config{Rate: 100 * units.Mbps, Credit: Credit{Share: 0.05, Packets: 8}}
	h, got := atOnce(t, config, func(h *bench) [][]byte { return h.frames(0, credits, 60, CreditTOS|0xe0) }, wireTime(60, config.Rate/20))
	_, drops := ptr(h.stats()).Drops()
	if len(got)+int(drops) != credits {
		t.Errorf("%d credits, %d arrived, %d dropped", credits, len(got), drops)
	}
	if want := creditBurst + 8; len(got) < want || len(got) > want+1 {
		t.Errorf("%d credits came through, want the burst of %d and a queue of 8", len(got), creditBurst)
	}
	each := wireTime(60, config.Rate/20)
	for i := creditBurst + 2; i < len(got); i++ {
		if gap := time.Duration(got[i].At - got[i-1].At); gap < each-tolerance || gap > each+tolerance {
			t.Errorf("credit %d came %v after the one before, want %v", i, gap, each)
		}
	}
}
