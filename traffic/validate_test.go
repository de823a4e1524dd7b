package traffic

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sirdbed/topo/units"
)

// valid holds one stream of each pattern, with every field that it may have.
func valid() map[Pattern]Stream {
	return map[Pattern]Stream{
		PatternPoisson: {Name: "p", Pattern: PatternPoisson, From: []string{"h1-1", "h1-2"}, To: []string{"all"},
			Load:  0.5,
			Sizes: "wka", Sampling: SamplingStep, Arrivals: ArrivalsReleased, Start: ms, Stop: 5 * ms, Reply: 4},
		PatternFixed: {Name: "f", Pattern: PatternFixed, From: []string{"all"}, To: []string{"h1-1"},
			Rate: 17 * units.Gbps, Size: 10 * units.Megabyte, Phase: PhaseZero},
		PatternIncast: {Name: "i", Pattern: PatternIncast, FanIn: 5, Size: 500 * units.Kilobyte, Load: 0.07,
			Overload: true},
		PatternOutcast: {Name: "o", Pattern: PatternOutcast, From: []string{"h1-1"}, Size: 100, Outstanding: 3,
			Stagger: ms},
		PatternList: {Name: "l", Pattern: PatternList, File: "l.csv", Messages: []ListEntry{
			{At: 5, Src: "h1-1", Dst: "h1-2", Size: 100, Reply: 8, Line: 2}, {Src: "h1-2", Dst: "h1-1", Size: 1,
				Line: 3}}},
	}
}

func TestValidStreams(t *testing.T) {
	f := fabric(t, rackSpec)
	for _, s := range valid() {
		if err := s.Validate(f); err != nil {
			t.Errorf("%s: %v", s.Pattern, err)
		}
	}
}

func TestImpossibleFields(t *testing.T) {
	f := fabric(t, rackSpec)
	for _, c := range []struct {
		pattern     Pattern
		change      func(s *Stream)
		field, text string
	}{
		{PatternPoisson, func(s *Stream) { s.Name = "" }, "name", "missing"},
		{PatternPoisson, func(s *Stream) { s.Pattern = "burst" }, "pattern", `"burst"`},
		{PatternPoisson, func(s *Stream) { s.From = []string{"h1-1", "h9-9"} }, "from[1]", "hosts are h1-1 to h1-8"},
		{PatternPoisson, func(s *Stream) { s.To = []string{"leaf1"} }, "to[0]", "no host"},
		{PatternPoisson, func(s *Stream) { s.To = []string{"h1-3", "h1-3"} }, "to[1]", "twice"},
		{PatternPoisson, func(s *Stream) { s.To = []string{"h1-3", "all"} }, "to[1]", "all"},
		{PatternPoisson, func(s *Stream) { s.To = []string{"h1-2"} }, "to",
			"h1-2, one of the senders, has only itself"},
		{PatternPoisson, func(s *Stream) { s.Start = -1 }, "start", "want 0"},
		{PatternPoisson, func(s *Stream) { s.Start = units.Never }, "start", "want 0"},
		{PatternPoisson, func(s *Stream) { s.Stop = s.Start }, "stop", "not after start"},
		{PatternPoisson, func(s *Stream) { s.Reply = -1 }, "reply", "want 0"},
		{PatternPoisson, func(s *Stream) { s.Reply = units.Unlimited }, "reply", "want 0"},
		{PatternPoisson, func(s *Stream) { s.Latency = "one-way" }, "latency", "want round-trip or request"},
		{PatternPoisson, func(s *Stream) { s.Reply, s.Latency = 0, LatencyRequest }, "latency", "give reply a size"},
		{PatternPoisson, func(s *Stream) { s.Load = 0 }, "rate", "missing"},
		{PatternPoisson, func(s *Stream) { s.Load = math.NaN() }, "load", "NaN"},
		{PatternPoisson, func(s *Stream) { s.Load = -1 }, "load", "a share of the link rate"},
		{PatternPoisson, func(s *Stream) { s.Load = 1.02 }, "load", "102 Gbps"},
		{PatternPoisson, func(s *Stream) { s.Rate = 1 }, "load", "beside rate"},
		{PatternPoisson, func(s *Stream) { s.Load, s.Rate = 0, 101*units.Gbps }, "rate", "overload"},
		{PatternPoisson, func(s *Stream) { s.Load, s.Rate = 0, -1 }, "rate", "want 1bps"},
		{PatternPoisson, func(s *Stream) { s.Interval = ms }, "interval", "does not use it"},
		{PatternPoisson, func(s *Stream) { s.FanIn = 1 }, "fan_in", "[incast] does"},
		{PatternPoisson, func(s *Stream) { s.Sizes = "" }, "size", "missing"},
		{PatternPoisson, func(s *Stream) { s.Sizes = "w4" }, "sizes", "wkb"},
		{PatternPoisson, func(s *Stream) { s.Size = 1 }, "sizes", "beside size"},
		{PatternPoisson, func(s *Stream) { s.Size = -1 }, "size", "want 1B"},
		{PatternPoisson, func(s *Stream) { s.Sampling = "cubic" }, "sampling", "log or step"},
		{PatternPoisson, func(s *Stream) { s.Arrivals = "bursty" }, "arrivals", "released"},
		{PatternPoisson, func(s *Stream) { s.Sizes, s.Size = "", 9 }, "sampling", "nothing to sample"},
		{PatternPoisson, func(s *Stream) { s.Sizes, s.Size, s.Sampling = "", 9, "" }, "arrivals", "released"},
		{PatternFixed, func(s *Stream) { s.Size = 0 }, "size", "at least 1B"},
		{PatternFixed, func(s *Stream) { s.Size = MaxSize + 1 }, "size", "want 1B"},
		{PatternFixed, func(s *Stream) { s.Interval = ms }, "interval", "beside rate"},
		{PatternFixed, func(s *Stream) { s.Rate, s.Interval = 0, 100*us }, "interval", "800 Gbps"},
		{PatternFixed, func(s *Stream) { s.Phase = "late" }, "phase", "random or zero"},
		{PatternFixed, func(s *Stream) { s.Sizes = "wka" }, "sizes", "does not use it"},
		{PatternFixed, func(s *Stream) { s.Sampling = SamplingLog }, "sampling", "does not use it"},
		{PatternIncast, func(s *Stream) { s.FanIn = 0 }, "fan_in", "at least 1"},
		{PatternIncast, func(s *Stream) { s.FanIn = 8 }, "fan_in", "7 to choose from"},
		{PatternIncast, func(s *Stream) { s.Size = 0 }, "size", "missing"},
		{PatternIncast, func(s *Stream) { s.Load = 0 }, "interval", "missing"},
		{PatternIncast, func(s *Stream) { s.Load, s.Overload = 1.5, false }, "load", "1200 Gbps"},
		{PatternOutcast, func(s *Stream) { s.Size = 0 }, "size", "missing"},
		{PatternOutcast, func(s *Stream) { s.Outstanding = -1 }, "outstanding", "want 1"},
		{PatternOutcast, func(s *Stream) { s.Stagger = -1 }, "stagger", "want 0"},
		{PatternOutcast, func(s *Stream) { s.Rate = units.Gbps }, "rate", "does not use it"},
		{PatternOutcast, func(s *Stream) { s.Overload = true }, "overload", "does not use it"},
		{PatternList, func(s *Stream) { s.File, s.Messages = "", nil }, "file", "missing"},
		{PatternList, func(s *Stream) { s.Messages = nil }, "file", "not been loaded"},
		{PatternList, func(s *Stream) { s.From = []string{"all"} }, "from", "does not use it"},
		{PatternList, func(s *Stream) { s.Size = 5 }, "size", "does not use it"},
		{PatternList, func(s *Stream) { s.Messages[1].Dst = "h1-9" }, "file", `l.csv:3: no host is called "h1-9"`},
		{PatternList, func(s *Stream) { s.Messages[0].Size = 0 }, "file", "l.csv:2: size"},
	} {
		s := valid()[c.pattern]
		c.change(&s)
		wantField(t, s.Validate(f), c.field, c.text)
	}
}

// Every field that Stream has is either common to all patterns or in the table
// of who uses it, so that none slips through unchecked.
func TestEveryFieldIsChecked(t *testing.T) {
	common := strings.Fields("name pattern start stop reply latency messages")
	full := Stream{From: []string{""}, To: []string{""}, Rate: 1, Load: 1, Interval: 1, Overload: true, Size: 1,
		Sizes: "x", Sampling: "x",
		Arrivals: "x", Phase: "x", FanIn: 1, Outstanding: 1, Stagger: 1, File: "x"}
	for f := range reflect.TypeFor[Stream]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		_, used := use[name]
		if used == slices.Contains(common, name) {
			t.Errorf("field %s is used by %v", name, use[name])
		}
		if yaml, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); yaml != name && yaml != "-" {
			t.Errorf("field %s is %s in YAML", name, yaml)
		}
	}
	if given := full.given(); len(given) != len(use) {
		t.Errorf("given() finds %v of %d fields", given, len(use))
	}
}

func TestValidateOfAllStreams(t *testing.T) {
	f := fabric(t, rackSpec)
	a, b := valid()[PatternPoisson], valid()[PatternFixed]
	b.Name = a.Name
	wantField(t, Validate(f, []Stream{a, b}), "traffic[1].name", `called "p" too`)
	b = valid()[PatternFixed]
	b.To = []string{"h1-1", "nobody"}
	wantField(t, Validate(f, []Stream{a, b}), "traffic[1].to[1]", "nobody")
	wantField(t, Validate(f, make([]Stream, MaxStreams)), "traffic", "128 streams")
	_, err := NewSource(f, []Stream{a, b}, 1, 0, ms)
	wantField(t, err, "traffic[1].to[1]", "nobody")
	if _, err := NewSource(f, []Stream{a}, 1, 8, ms); err == nil {
		t.Error("a source for a ninth host of eight")
	}
}

// Host processes get their streams as JSON.
func TestJSONRoundTrip(t *testing.T) {
	for _, want := range valid() {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Stream
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v became %+v by way of %s", want, got, text)
		}
	}
	var s Stream
	text := `{"name": "bg", "pattern": "fixed", "rate": "17Gbps", "size": "10MB", "start": "1.5ms"}`
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.Rate != 17*units.Gbps || s.Size != 10*units.Megabyte ||
		s.Start != 1500*us {
		t.Errorf("%s is %+v, %v", text, s, err)
	}
}
