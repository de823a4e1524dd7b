package traffic

import (
	"slices"
	"testing"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// everyOpenPattern offers something of each open-loop pattern, on rackSpec.
func everyOpenPattern() []Stream {
	return []Stream{
		{Name: "rpc", Pattern: PatternPoisson, Load: 0.3, Sizes: "wka", Reply: 4},
		{Name: "probe", Pattern: PatternFixed, Interval: 50 * us, Size: 8, To: []string{"h1-1", "h1-2"}},
		{Name: "burst", Pattern: PatternIncast, Interval: 200 * us, FanIn: 3, Size: 500 * units.Kilobyte},
		{Name: "list", Pattern: PatternList, Messages: []ListEntry{{At: ms, Src: "h1-3", Dst: "h1-4", Size: 77}}},
	}
}

func TestSameSeedSameMessages(t *testing.T) {
	f := fabric(t, rackSpec)
	for self := range topo.HostID(3) {
		a := arrivals(t, f, 7, self, 2*ms, everyOpenPattern()...)
		b := arrivals(t, f, 7, self, 2*ms, everyOpenPattern()...)
		if !slices.Equal(a, b) || len(a) < 100 {
			t.Errorf("host %d: %d messages, then %d, and not the same", self, len(a), len(b))
		}
		c := arrivals(t, f, 8, self, 2*ms, everyOpenPattern()...)
		if a[0] == c[0] || slices.Equal(a, c) {
			t.Errorf("host %d: another seed gives the same messages", self)
		}
	}
}

// The first messages of a stream by a known seed. If this changes, results
// recorded with earlier versions can no longer be repeated.
func TestDrawsStayAsTheyAre(t *testing.T) {
	recorded := []Arrival{
		{At: 248, Dst: 1, Size: 35, Tag: 0},
		{At: 379, Dst: 7, Size: 68, Tag: 1},
		{At: 861, Dst: 4, Size: 29, Tag: 2},
		{At: 1554, Dst: 2, Size: 247, Tag: 3},
	}
	f := fabric(t, rackSpec)
	s := source(t, f, 1, 0, ms, Stream{Name: "rpc", Pattern: PatternPoisson, Load: 0.5, Sizes: "wka"})
	for i, want := range recorded {
		if a, _ := s.Pop(); a != want {
			t.Errorf("message %d is %+v, recorded %+v", i, a, want)
		}
	}
}

// A stream's messages are the same with other streams before and after it, for
// all but the stream's number in the tag.
func TestStreamsAreIndependent(t *testing.T) {
	f := fabric(t, rackSpec)
	all := everyOpenPattern()
	for i, stream := range all {
		for self := range topo.HostID(4) {
			alone := arrivals(t, f, 7, self, 2*ms, stream)
			var among []Arrival
			for _, a := range arrivals(t, f, 7, self, 2*ms, all...) {
				if a.Tag.Stream() == i {
					a.Tag, _ = MakeTag(0, a.Tag.Index())
					among = append(among, a)
				}
			}
			if !slices.Equal(alone, among) {
				t.Errorf("stream %s at host %d: %d messages alone, %d among others, or different ones", stream.Name,
					self, len(alone), len(among))
			}
		}
	}
}

func TestHostsDrawIndependently(t *testing.T) {
	f := fabric(t, rackSpec)
	stream := everyOpenPattern()[0]
	a, b := arrivals(t, f, 7, 0, ms, stream), arrivals(t, f, 7, 1, ms, stream)
	if a[0].At == b[0].At || a[0].Size == b[0].Size && a[1].Size == b[1].Size {
		t.Errorf("hosts 0 and 1 both begin with %+v", a[0])
	}
	// Whether others send does not matter to a host.
	stream.From = []string{"h1-2"}
	if alone := arrivals(t, f, 7, 1, ms, stream); !slices.Equal(alone, b) {
		t.Error("a host's messages depend on the other senders")
	}
	if none := arrivals(t, f, 7, 0, ms, stream); len(none) != 0 {
		t.Errorf("%d messages of a host that is no sender", len(none))
	}
}

func TestTagsCountUp(t *testing.T) {
	f := fabric(t, rackSpec)
	next := map[int]int{}
	for _, a := range arrivals(t, f, 7, 3, 2*ms, everyOpenPattern()[:3]...) {
		if a.Tag.IsReply() || a.Tag.Index() != next[a.Tag.Stream()] {
			t.Fatalf("%+v: want index %d", a, next[a.Tag.Stream()])
		}
		next[a.Tag.Stream()]++
	}
	if len(next) != 3 {
		t.Errorf("messages of %d streams, want 3", len(next))
	}
}

// Messages at the same time come in the order of the streams.
func TestTies(t *testing.T) {
	f := fabric(t, rackSpec)
	a := Stream{Name: "a", Pattern: PatternFixed, Interval: 10 * us, Size: 1, Phase: PhaseZero}
	b := a
	b.Name = "b"
	all := arrivals(t, f, 1, 0, 100*us, a, b)
	if len(all) != 20 {
		t.Fatalf("%d messages, want 20", len(all))
	}
	for i, m := range all {
		if m.At != units.Time(i/2)*10*us || m.Tag.Stream() != i%2 {
			t.Errorf("message %d: %+v", i, m)
		}
	}
}

func TestStartStopUntil(t *testing.T) {
	f := fabric(t, rackSpec)
	for _, s := range []Stream{
		{Name: "p", Pattern: PatternPoisson, Load: 0.5, Size: 1000},
		{Name: "f", Pattern: PatternFixed, Interval: us, Size: 1000},
		{Name: "i", Pattern: PatternIncast, Interval: us, Size: 1000, FanIn: 7},
	} {
		t.Run(string(s.Pattern), func(t *testing.T) {
			s.Start, s.Stop = ms, 2*ms
			all := arrivals(t, f, 1, 0, end, s)
			if first, last := all[0].At, all[len(all)-1].At; first < ms || first > ms+10*us || last >= 2*ms ||
				last < 2*ms-10*us {
				t.Errorf("messages from %v to %v, want 1ms to 2ms", first, last)
			}
			short := arrivals(t, f, 1, 0, 1500*us, s)
			if !slices.Equal(short, all[:len(short)]) || len(short) >= len(all) {
				t.Errorf("a shorter run is not the beginning of a longer one")
			}
			if none := arrivals(t, f, 1, 0, ms, s); len(none) != 0 {
				t.Errorf("%d messages before start, want none", len(none))
			}
		})
	}
}

func TestTooManyMessages(t *testing.T) {
	f := fabric(t, rackSpec)
	for _, s := range []Stream{
		{Name: "p", Pattern: PatternPoisson, Rate: units.Gbps, Size: 1},
		{Name: "f", Pattern: PatternFixed, Interval: 8, Size: 1},
		{Name: "i", Pattern: PatternIncast, Interval: 8, Size: 1, FanIn: 1},
	} {
		t.Run(string(s.Pattern), func(t *testing.T) {
			_, err := NewSource(f, []Stream{s}, 1, 0, (MaxIndex+1)*8)
			if err != nil {
				t.Errorf("of 2^24 messages: %v", err)
			}
			_, err = NewSource(f, []Stream{s}, 1, 0, (MaxIndex+2)*8)
			wantField(t, err, "traffic[0]."+s.pace(), "at most 16777216")
		})
	}
}

// A source whose stream runs out of tags ends with an error.
func TestTagOverflowEndsTheSource(t *testing.T) {
	f := fabric(t, rackSpec)
	s := source(t, f, 1, 0, units.Never, Stream{Name: "f", Pattern: PatternFixed, Interval: 8, Size: 1,
		Phase: PhaseZero})
	s.lanes[0].generator.(*fixed).count = MaxIndex
	s.lanes[0].refresh()
	if a, ok := s.Pop(); !ok || a.Tag.Index() != MaxIndex {
		t.Fatalf("last message %+v, %v; want index %d", a, ok, MaxIndex)
	}
	if a, ok := s.Pop(); ok || s.Err() == nil || s.NextAt() != units.Never {
		t.Errorf("popped %+v, %v; error %v; next at %v: want nothing more, and an error", a, ok, s.Err(), s.NextAt())
	}
}

func TestReplySize(t *testing.T) {
	f := fabric(t, rackSpec)
	list := Stream{Name: "l", Pattern: PatternList, Messages: []ListEntry{
		{Src: "h1-1", Dst: "h1-2", Size: 1, Reply: 9}, {Src: "h1-1", Dst: "h1-2", Size: 1}}}
	s := source(t, f, 1, 5, ms, Stream{Name: "p", Pattern: PatternPoisson, Load: 0.1, Size: 9, Reply: 4}, list)
	for _, c := range []struct {
		stream, index int
		want          units.Bytes
	}{{0, 12345, 4}, {1, 0, 9}, {1, 1, 0}, {1, 2, 0}, {2, 0, 0}} {
		tag, _ := MakeTag(c.stream, c.index)
		if got := s.ReplySize(tag); got != c.want {
			t.Errorf("reply to %v: %v, want %v", tag, got, c.want)
		}
		if got := s.ReplySize(tag.Reply()); got != 0 {
			t.Errorf("reply to the reply %v: %v, want 0", tag, got)
		}
	}
}

func TestOpenLoopDoesNotAllocate(t *testing.T) {
	f := fabric(t, rackSpec)
	s := source(t, f, 1, 0, units.Never,
		Stream{Name: "log", Pattern: PatternPoisson, Load: 0.5, Sizes: "wkb"},
		Stream{Name: "step", Pattern: PatternPoisson, Load: 0.5, Sizes: "wka", Sampling: SamplingStep,
			Arrivals: ArrivalsReleased},
		Stream{Name: "fixed", Pattern: PatternFixed, Interval: us, Size: 8},
		Stream{Name: "incast", Pattern: PatternIncast, Interval: us, Size: 8, FanIn: 5})
	if n := testing.AllocsPerRun(5000, func() { s.Pop() }); n != 0 {
		t.Errorf("%v allocations per message, want 0", n)
	}
}

func BenchmarkPop(b *testing.B) {
	s := source(b, fabric(b, paperSpec), 1, 0, units.Never,
		Stream{Name: "rpc", Pattern: PatternPoisson, Load: 0.5, Sizes: "wka"})
	for b.Loop() {
		s.Pop()
	}
}
