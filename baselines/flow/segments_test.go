package flow_test

import (
	"math/rand/v2"
	"testing"

	"sirdbed/baselines/flow"
)

const mss flow.Bytes = 1000

// sends transmits n segments from now on, one per ns.
func sends(t *testing.T, s *flow.Segments, now flow.Time, n int) {
	t.Helper()
	for i := range n {
		if _, _, _, ok := s.Send(now+flow.Time(i), 0); !ok {
			t.Fatal("nothing to send")
		}
	}
}

// README, Loss: a segment is lost when three that were sent after it have
// arrived, not when two have.
func TestThreeLaterArrivalsMeanLoss(t *testing.T) {
	s := flow.NewSegments(mss)
	s.Begin(10_500)
	sends(t, &s, 0, 6)
	for i, want := range []int{0, 0, 1, 0, 0} { // 0 is missing, 1 to 5 arrive
		from := mss * flow.Bytes(i+1)
		if s.ArrivedRange(from, from+mss, uint32(i+1)) != 1 {
			t.Fatal("no news")
		}
		if n, order := s.Lost(); n != want || n == 1 && order != 1 {
			t.Errorf("%d later ones arrived: %d lost, order %d", i+1, n, order)
		}
	}
	if offset, n, again, ok := s.Send(10, 0); offset != 0 || n != mss || !again || !ok {
		t.Errorf("resent %d+%d, %v, %v", offset, n, again, ok)
	}
	// The retransmission is lost in turn when three sent after it arrive.
	sends(t, &s, 11, 3)
	s.ArrivedRange(6*mss, 9*mss, 13)
	if n, _ := s.Lost(); n != 1 || s.InFlight() != 0 || s.Left() != 3 {
		t.Errorf("retransmission: %d lost, %d in flight, %d left", n, s.InFlight(), s.Left())
	}
}

// The acknowledgement of a first transmission that was merely late shows nothing
// about what was sent after its retransmission.
func TestStampTellsWhichTransmissionArrived(t *testing.T) {
	for late, want := range map[bool]uint64{true: 4, false: 5} {
		s := flow.NewSegments(mss)
		s.Begin(10_000)
		sends(t, &s, 0, 4)
		s.ArrivedRange(mss, 4*mss, 3)
		s.Lost()
		sends(t, &s, 50, 1)
		stamp := uint32(50)
		if late {
			stamp = 0
		}
		if s.Arrived(4*mss, stamp); s.Highest() != want {
			t.Errorf("late %v: highest %d, want %d", late, s.Highest(), want)
		}
	}
}

// Ranges that add up to the whole message are as good as its end.
func TestRangesMayCompleteAMessage(t *testing.T) {
	s := flow.NewSegments(mss)
	s.Begin(3500)
	sends(t, &s, 0, 4)
	s.ArrivedRange(mss, 3500, 3)
	if s.Done() {
		t.Error("done without the first segment")
	}
	if s.ArrivedRange(0, mss, 0); !s.Done() || s.InFlight() != 0 {
		t.Errorf("not done, %d in flight", s.InFlight())
	}
}

// What was never sent cannot arrive.
func TestNeverSentCannotArrive(t *testing.T) {
	s := flow.NewSegments(mss)
	s.Begin(10_500)
	sends(t, &s, 0, 2)
	if s.Arrived(3*mss, 0)+s.Arrived(10_500, 0)+s.ArrivedRange(mss, 3*mss, 0)+
		s.ArrivedRange(500, 2*mss, 0)+s.ArrivedRange(9*mss, 20*mss, 0) != 0 {
		t.Error("it did")
	}
	if s.InFlight() != 2 || s.Broken() != "" {
		t.Error(s.Broken())
	}
}

// Against a plain model over random losses, orders and timeouts: everything is
// sent, the counts add up, and a segment that has arrived is not sent again.
func TestSegmentsOverRandomNetworks(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		s := flow.NewSegments(mss)
		now := flow.Time(0)
		for range 3 {
			size := flow.Bytes(1 + r.IntN(60_000))
			s.Begin(size)
			known := make([]bool, (size+mss-1)/mss)
			type packet struct {
				n     int
				stamp uint32
			}
			var network []packet
			for !s.Done() {
				now++
				switch {
				case r.IntN(2) == 0:
					offset, n, _, ok := s.Send(now, 0)
					if !ok {
						break
					}
					i := int(offset / mss)
					if known[i] || n != min(mss, size-offset) {
						t.Fatalf("seed %d: sent %d+%d, known %v", seed, offset, n, known[i])
					}
					if r.IntN(5) > 0 {
						network = append(network, packet{i, uint32(now)})
					}
				case len(network) > 0:
					at := min(r.IntN(4), len(network)-1)
					p := network[at]
					network = append(network[:at], network[at+1:]...)
					from := flow.Bytes(p.n) * mss
					want := 1
					if known[p.n] {
						want = 0
					}
					known[p.n] = true
					if got := s.ArrivedRange(from, min(from+mss, size), p.stamp); got != want {
						t.Fatalf("seed %d: news of %d segments, want %d", seed, got, want)
					}
					whole := flow.Bytes(0)
					for i := 0; i < len(known) && known[i]; i++ {
						whole = min(size, whole+mss)
					}
					s.Arrived(whole, p.stamp)
					s.Lost()
				case s.Left() == 0:
					s.LoseAll()
				}
				if broken := s.Broken(); broken != "" {
					t.Fatalf("seed %d: %s", seed, broken)
				}
			}
		}
	}
}
