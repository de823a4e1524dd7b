//go:build linux

package endpoint

import (
	"slices"
	"testing"

	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// sends pops all messages that are due by now.
func sends(s *source, now units.Time) (list []traffic.Arrival) {
	for s.NextAt() <= now {
		a, ok := s.Pop()
		if !ok {
			break
		}
		list = append(list, a)
	}
	return list
}

func destinations(list []traffic.Arrival) (to []topo.HostID) {
	for _, a := range list {
		to = append(to, a.Dst)
	}
	return to
}

func TestClosedLoopKeepsSoManyUnderWayToEach(t *testing.T) {
	var took []units.Time
	s := newSource(Load{Size: 10, Outstanding: 2, Count: 6}, []topo.HostID{1, 2},
		func(l units.Time) { took = append(took, l) })
	first := sends(s, 0)
	if got, want := destinations(first), []topo.HostID{1, 2, 1, 2}; !slices.Equal(got, want) {
		t.Fatalf("the first go to %v, want %v", got, want)
	}
	if s.NextAt() != units.Never {
		t.Fatalf("another one comes at %v", s.NextAt())
	}
	// What comes back from one peer is for that peer.
	s.Completed(first[1].Tag, 30)
	s.Completed(first[1].Tag, 31) // twice is once
	if got, want := destinations(sends(s, 30)), []topo.HostID{2}; !slices.Equal(got, want) {
		t.Errorf("then they go to %v, want %v", got, want)
	}
	s.end(first[0].Tag, 50, false) // failed
	if got, want := destinations(sends(s, 50)), []topo.HostID{1}; !slices.Equal(got, want) {
		t.Errorf("after a failure they go to %v, want %v", got, want)
	}
	if want := []units.Time{30}; !slices.Equal(took, want) {
		t.Errorf("latencies %v, want %v", took, want)
	}
	if s.done(60) {
		t.Error("done with messages under way")
	}
	for tag := range traffic.Tag(6) {
		s.Completed(tag, 70)
	}
	if s.NextAt() != units.Never || !s.done(70) {
		t.Errorf("not done after 6 messages: another one at %v", s.NextAt())
	}
}

func TestClosedLoopWaitsForItsGap(t *testing.T) {
	s := newSource(Load{Size: 8, Answered: true, Outstanding: 1, Gap: 100, For: 250}, []topo.HostID{1},
		func(units.Time) {})
	var at []units.Time
	for now := units.Time(0); now < 1000; now += 10 {
		for _, a := range sends(s, now) {
			at = append(at, a.At)
			if a.Reply != AnswerSize || s.ReplySize(a.Tag) != AnswerSize || s.ReplySize(a.Tag.Reply()) != 0 {
				t.Errorf("reply of %v, %v to the message, %v to the answer",
					a.Reply, s.ReplySize(a.Tag), s.ReplySize(a.Tag.Reply()))
			}
			s.Completed(a.Tag, now+5)
		}
	}
	if want := []units.Time{0, 100, 200}; !slices.Equal(at, want) {
		t.Errorf("messages at %v, want %v", at, want)
	}
	if !s.done(250) {
		t.Error("not done at its end")
	}
}

// An open loop sends whatever comes back, as of the time at which each was due.
func TestOpenLoopKeepsItsRate(t *testing.T) {
	s := newSource(Load{Size: 10, Gap: 100}, []topo.HostID{1}, func(units.Time) {})
	list := sends(s, 950)
	if len(list) != 10 || list[9].At != 900 {
		t.Fatalf("%d messages by 950, the last of %v", len(list), list[len(list)-1].At)
	}
	if n := len(sends(s, units.Second)); n != mostUnderWay-10 {
		t.Errorf("%d more while nothing comes back, want %d", n, mostUnderWay-10)
	}
	s.Completed(list[0].Tag, units.Second)
	if n := len(sends(s, units.Second)); n != 1 {
		t.Errorf("%d more after one has come back, want 1", n)
	}
}
