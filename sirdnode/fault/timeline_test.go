package fault

import (
	"errors"
	"slices"
	"testing"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

const (
	us = units.Microsecond
	ms = units.Millisecond
)

// spineLeaf has hosts h1-1 to h2-2 at 100 Gbps, and one spine.
func spineLeaf(t *testing.T) *topo.Fabric {
	t.Helper()
	f, err := topo.New(topo.Spec{Leaves: 2, HostsPerLeaf: 2, Spines: 1, HostRate: 100 * units.Gbps,
		CoreRate: 400 * units.Gbps, HostDelay: us, CoreDelay: us})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEventsThatCannotHappen(t *testing.T) {
	f := spineLeaf(t)
	cut := Event{At: ms, For: ms, Link: "h1-1", Do: Blackhole}
	for _, c := range []struct {
		name  string
		given Timeline
		want  string
	}{
		{"a link by its host", Timeline{cut}, ""},
		{"both ends", Timeline{{Link: "leaf1<>spine1", Do: Down}}, ""},
		{"a direction", Timeline{{Link: "spine1>leaf2", Do: Down}}, ""},
		{"nothing", Timeline{{Link: "h1-1"}}, "[0].do: missing: say what happens, such as blackhole"},
		{"no such link", Timeline{cut, {Link: "leaf1>h2-1", Do: Down}}, `[1].link: down is for a link, and none is ` +
			`called "leaf1>h2-1": want a host's (h1-1), both ends of one (leaf1<>h1-1) or one direction of it ` +
			`(leaf1>h1-1)`},
		{"a link that is killed", Timeline{{Link: "h1-1", Do: Kill}},
			`[0].host: kill is for a host, and none is called "": want a name such as h1-1`},
		{"a host that is cut", Timeline{{Link: "h1-1", Host: "h1-1", Do: Down}}, "[0].host: has no meaning for down"},
		{"a kill that lasts", Timeline{{Host: "h1-1", Do: Kill, For: ms}}, "[0].for: has no meaning for kill"},
		{"an endless pause", Timeline{{Host: "h1-1", Do: Pause}}, "[0].for: missing: pause needs it"},
		{"no rate", Timeline{{Link: "h1-1", Do: Rate}}, "[0].rate: missing: rate needs it"},
		{"a faster link", Timeline{{Link: "h1-1", Do: Rate, Rate: 200 * units.Gbps}},
			"[0].rate: 200Gbps is more than h1-1>leaf1 has, 100Gbps: a link gets slower"},
		{"a shorter link", Timeline{{Link: "h1-1", Do: Delay, Delay: 1}},
			"[0].delay: 1ns is less than h1-1>leaf1 has, 1us: a link gets longer"},
		{"no share", Timeline{{Link: "h1-1", Do: Drop}}, "[0].share: missing: drop needs it"},
		{"a share of a pause", Timeline{{Host: "h1-1", Do: Pause, For: ms, Share: 0.5}},
			"[0].share: has no meaning for pause"},
		{"too late", Timeline{{At: 10 * ms, Link: "h1-1", Do: Down}}, "[0].at: 10ms: the run is over at 10ms"},
		{"the same twice", Timeline{cut, {At: 1999 * us, For: ms, Link: "leaf1>h1-1", Do: Blackhole}},
			"[1]: overlaps with entry 1: h1-1: blackhole from 1ms to 2ms"},
		{"one after the other", Timeline{cut, {At: 2 * ms, For: ms, Link: "h1-1", Do: Blackhole}}, ""},
		{"two kinds at once", Timeline{cut, {At: ms, For: ms, Link: "h1-1", Do: Drop, Share: 0.1}}, ""},
		{"another direction", Timeline{{Link: "h1-1>leaf1", Do: Blackhole}, {Link: "leaf1>h1-1", Do: Blackhole}}, ""},
		{"a pause of the dead",
			Timeline{{At: ms, Host: "h1-1", Do: Kill}, {At: 2 * ms, For: ms, Host: "h1-1", Do: Pause}},
			"[1]: overlaps with entry 1: h1-1: kill at 1ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if e, ok := errors.AsType[*topo.SpecError](c.given.Validate(f, 10*ms)); ok {
				got = e.Error()
			}
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// The steps of a direction are those of all events of its link, each for its time.
func TestStepsOfALink(t *testing.T) {
	f := spineLeaf(t)
	timeline := Timeline{
		{At: 4 * us, For: 2 * us, Link: "h1-1", Do: Down},
		{At: 1 * us, For: 4 * us, Link: "leaf1>h1-1", Do: Rate, Rate: 25 * units.Gbps},
		{At: 2 * us, For: 1 * us, Link: "h1-1", Do: Delay, Delay: 5 * us},
		{At: 5 * us, Link: "h1-1>leaf1", Do: Drop, Share: 0.5},
	}
	down := []Step{
		{1 * us, State{Rate: 25 * units.Gbps}},
		{2 * us, State{Rate: 25 * units.Gbps, Extra: 4 * us}},
		{3 * us, State{Rate: 25 * units.Gbps}},
		{4 * us, State{Rate: 25 * units.Gbps, Cut: true, Down: true}},
		{5 * us, State{Cut: true, Down: true}},
		{6 * us, State{}},
	}
	if got := timeline.Steps(f, f.Downlink(0).ID); !slices.Equal(got, down) {
		t.Errorf("downlink: got %+v\nwant %+v", got, down)
	}
	if got := timeline.Steps(f, f.Uplink(1).ID); got != nil {
		t.Errorf("another link: got %+v, want none", got)
	}
	up := timeline.NewLine(f, f.Uplink(0).ID, 1)
	for _, c := range []struct {
		at   units.Time
		want State
	}{
		{0, State{}}, {2 * us, State{Extra: 4 * us}}, {5 * us, State{Cut: true, Down: true, Random: Config{Drop: 0.5}}},
		{7 * us, State{Random: Config{Drop: 0.5}}},
	} {
		if got := up.At(c.at); got != c.want {
			t.Errorf("uplink at %v: got %+v, want %+v", c.at, got, c.want)
		}
	}
}

// A frame on a link that is cut is lost. Elsewhen the share of it befalls frames, always
// the same ones.
func TestLineCutsAndDraws(t *testing.T) {
	f := spineLeaf(t)
	timeline := Timeline{
		{At: 0, Link: "h1-1", Do: Corrupt, Share: 0.5},
		{At: 1000, For: 1000, Link: "h1-1", Do: Blackhole},
	}
	run := func(seed uint64, port topo.PortID) (flipped [3]int, c Counters) {
		l := timeline.NewLine(f, port, seed)
		for at := range units.Time(3000) {
			v := l.Next(at, 100)
			if cut := at >= 1000 && at < 2000; v.Drop != cut {
				t.Fatalf("at %v: dropped %v, want %v", at, v.Drop, cut)
			}
			if v.FlipBit >= 0 {
				flipped[at/1000]++
			}
			if v.FlipBit >= 0 && v.FlipBit < 42*8 {
				t.Fatalf("bit %d flipped, which switches read", v.FlipBit)
			}
		}
		return flipped, l.Counters()
	}
	flipped, c := run(1, 0)
	if flipped[0] < 400 || flipped[0] > 600 || flipped[1] != 0 || flipped[2] < 400 {
		t.Errorf("%d frames damaged before, during and after the cut: want about 500, none, 500", flipped)
	}
	if c.Dropped != 1000 || c.Corrupted != uint64(flipped[0]+flipped[2]) {
		t.Errorf("counted %+v, want 1000 dropped, %d corrupted", c, flipped[0]+flipped[2])
	}
	if again, _ := run(1, 0); again != flipped {
		t.Errorf("the same seed damages %d, then %d", flipped, again)
	}
	if other, _ := run(1, 1); other == flipped {
		t.Error("both directions have the same faults")
	}
}

func TestEventsInWords(t *testing.T) {
	for _, c := range []struct {
		e    Event
		want string
	}{
		{Event{At: ms, For: ms, Link: "h1-1", Do: Blackhole}, "h1-1: blackhole from 1ms to 2ms"},
		{Event{At: ms, Link: "h1-1", Do: Rate, Rate: 25 * units.Gbps}, "h1-1: rate 25Gbps from 1ms"},
		{Event{Link: "h1-1", Do: Drop, Share: 0.001}, "h1-1: drop 0.1 % from 0ns"},
		{Event{At: ms, Host: "h1-1", Do: Kill}, "h1-1: kill at 1ms"},
		{Event{At: ms, Host: "h1-1", Do: Kill, Restart: ms}, "h1-1: kill at 1ms, restart at 2ms"},
	} {
		if got := c.e.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
