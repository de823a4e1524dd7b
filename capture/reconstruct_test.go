package capture_test

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sirdbed/capture"
	"sirdbed/capture/internal/fakerun"
	"sirdbed/capture/internal/leafsim"
	"sirdbed/topo/units"
)

func replay(list []capture.Frame, end error) iter.Seq2[capture.Frame, error] {
	return func(yield func(capture.Frame, error) bool) {
		for _, fr := range list {
			if !yield(fr, nil) {
				return
			}
		}
		if end != nil {
			yield(capture.Frame{}, end)
		}
	}
}

func TestReconstructionIsTheQueue(t *testing.T) {
	r := fakerun.New(t)
	leaf, _ := r.F.Node("leaf1")
	for seed := range uint64(20) {
		s := leafsim.Simulate(r.F, 2000, 1000, rand.New(rand.NewPCG(seed, 1)))
		got, err := capture.Reconstruct(r.F, leaf, replay(s.Frames, nil))
		must(t, err)
		for _, q := range got.Ports {
			if !slices.Equal(q.Series, s.Truth[q.Port.ID]) {
				t.Fatalf("seed %d: %s has %d depths, want %d", seed, q.Port.Name, len(q.Series),
					len(s.Truth[q.Port.ID]))
			}
			if q.Local+q.Lost+q.Waiting+got.Unknown != 0 {
				t.Fatalf("seed %d: %s: %+v", seed, q.Port.Name, q)
			}
			if over := q.Excess(); over > r.F.FullFrame() {
				t.Errorf("%s is %v ahead of its rate", q.Port.Name, over)
			}
		}
	}
}

func TestReconstructionFindsDrops(t *testing.T) {
	r := fakerun.New(t)
	leaf, _ := r.F.Node("leaf1")
	s := leafsim.Simulate(r.F, 5000, 4, rand.New(rand.NewPCG(5, 5)))
	got, err := capture.Reconstruct(r.F, leaf, replay(s.Frames, nil))
	must(t, err)
	total := 0
	for _, q := range got.Ports {
		// The very last packets may have been lost or be waiting: who knows.
		if d := s.Lost[q.Port.ID] - q.Lost; d < 0 || d > 2 {
			t.Errorf("%s lost %d, want %d", q.Port.Name, q.Lost, s.Lost[q.Port.ID])
		}
		total += q.Lost
		most, _ := q.Between(0, units.Never/2)
		if most.Packets > 4+2 {
			t.Errorf("%s had %d packets waiting, want at most 4", q.Port.Name, most.Packets)
		}
	}
	if total == 0 {
		t.Error("nothing was lost: the test tests nothing")
	}
}

func TestReconstructionOfParts(t *testing.T) {
	r := fakerun.New(t)
	leaf, _ := r.F.Node("leaf1")
	s := leafsim.Simulate(r.F, 500, 1000, rand.New(rand.NewPCG(9, 9)))
	got, err := capture.Reconstruct(r.F, leaf, replay(s.Frames[200:], nil))
	must(t, err)
	local := 0
	for _, q := range got.Ports {
		local += q.Local
		for _, d := range q.Series {
			if d.Packets < 0 {
				t.Fatal("fewer than no packets wait")
			}
		}
	}
	if local == 0 {
		t.Error("packets from before the capture are not counted")
	}
	got, err = capture.Reconstruct(r.F, leaf, replay(s.Frames[:300], capture.ErrCaptureCut))
	if err == nil || got.Frames != 300 {
		t.Errorf("a cut capture: got %v, %d frames; want that it was cut after 300", err, got.Frames)
	}
	if _, err := capture.Reconstruct(r.F, &r.F.Nodes[0], replay(s.Frames, nil)); err == nil ||
		!strings.Contains(err.Error(), "is a host") {
		t.Errorf("a host's queue: %v", err)
	}
	if _, err := capture.Reconstruct(r.F, leaf, replay(nil, nil)); err == nil {
		t.Error("no packets is no error")
	}
}

func TestDepthBetween(t *testing.T) {
	q := &capture.PortQueue{Series: []capture.Depth{{At: 100, Packets: 1, Bytes: 1000},
		{At: 200, Packets: 2, Bytes: 3000}, {At: 300}}}
	most, mean := q.Between(0, 400)
	if most.Bytes != 3000 || most.Packets != 2 || math.Abs(mean-1000) > 1e-9 {
		t.Errorf("max %v, mean %v", most, mean)
	}
	if most, mean = q.Between(150, 200); most.Bytes != 1000 || mean != 1000 {
		t.Errorf("max %v, mean %v", most, mean)
	}
	if most, mean = q.Between(300, 900); most.Bytes != 0 || mean != 0 {
		t.Errorf("max %v, mean %v", most, mean)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
