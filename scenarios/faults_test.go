package scenarios

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"sirdbed/sirdnode/fault"
	"sirdbed/topo/units"
)

// withFaults has faults of both forms.
const withFaults = `name: x
topology: {leaves: 1, hosts_per_leaf: 3, host_rate: 100Gbps, host_delay: 1us}
traffic:
  - {name: a, pattern: fixed, size: 8B, interval: 40us}
duration: 10ms
faults:
  - {at: 1ms, for: 500us, link: h1-3, do: blackhole}
  - {at: 2ms, restart: 1ms, host: h1-2, do: kill}
variants:
  - {name: as-all}
  - {name: lossy, faults: {drop: 0.01}}
  - {name: short, duration: 3ms, faults: [{at: 1ms, link: leaf1>h1-1, do: rate, rate: 10Gbps}]}
`

func TestFaultsAreAMapOrATimeline(t *testing.T) {
	s, err := Parse("f.yaml", ".", []byte(withFaults))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := s.Experiments(Options{})
	if err != nil {
		t.Fatal(err)
	}
	const ms = units.Millisecond
	for i, want := range []struct {
		all      fault.Config
		timeline fault.Timeline
	}{
		{timeline: fault.Timeline{
			{At: ms, For: ms / 2, Link: "h1-3", Do: fault.Blackhole},
			{At: 2 * ms, Restart: ms, Host: "h1-2", Do: fault.Kill},
		}},
		{all: fault.Config{Drop: 0.01}},
		{timeline: fault.Timeline{{At: ms, Link: "leaf1>h1-1", Do: fault.Rate, Rate: 10 * units.Gbps}}},
	} {
		if x := &runs[i]; x.Faults != want.all || !reflect.DeepEqual(x.Timeline, want.timeline) {
			t.Errorf("%s: got %v and %v, want %v and %v", x.Variant, x.Faults, x.Timeline, want.all, want.timeline)
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var again Scenario
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again.Faults, s.Faults) ||
		!reflect.DeepEqual(again.Variants[1].Faults, s.Variants[1].Faults) {
		t.Errorf("scenario.json gives %+v, %v", again.Faults, err)
	}
}

func TestFaultsThatCannotBe(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"a text", "{drop: 0.01}", "none", `f.yaml:11:27: faults: want keys and values, such as {drop: 0.01}, or a ` +
			`list of what happens when, such as [{at: 1ms, for: 500us, link: h1-1, do: blackhole}]`},
		{"a kind misspelled", "do: blackhole", "do: blackhol", `f.yaml:7:43: do: "blackhol" is not one of blackhole, ` +
			`down, rate, delay, drop, duplicate, reorder, corrupt, kill, pause: did you mean "blackhole"?`},
		{"an unknown key", "restart: 1ms", "restarts: 1ms",
			`f.yaml:8:15: unknown key "restarts" in fault item: did you mean "restart"?`},
		{"no time", "at: 1ms, for", "for", `f.yaml:7:5: faults[0].at: missing: say when it begins, such as 1ms`},
		{"a time without a unit", "at: 2ms", "at: 2",
			`f.yaml:8:10: at: time "2" has no unit: add one of ns, us, ms, s`},
		{"a host that is not there", "host: h1-2", "host: h1-4", `f.yaml:8:35: kill is for a host, and none is ` +
			`called "h1-4": want a name such as h1-1`},
		{"after the end of a variant", "at: 1ms, link", "at: 3ms, link",
			`f.yaml:12:48: 3ms: the run is over at 3ms`},
		{"beyond its limit", "rate: 10Gbps", "rate: 20Tbps", `f.yaml:12:87: rate is 20Tbps: want 1Mbps to 10Tbps: ` +
			`sums of packets' times stay exact, and far from overflow`},
		{"a share of more than all", "drop: 0.01", "drop: 2", `f.yaml:11:34: drop is 2: want 0 to 1: it is a share ` +
			`of the packets`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(withFaults, c.old, c.new, 1)
			if text == withFaults {
				t.Fatalf("%q is not in the file", c.old)
			}
			_, err := Parse("f.yaml", ".", []byte(text))
			if err == nil {
				t.Fatal("it is accepted")
			}
			if got, _, _ := strings.Cut(err.Error(), "\n"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// The examples of a fault's page work in a scenario.
func TestExamplesOfFaults(t *testing.T) {
	for _, k := range fault.Kinds {
		page := k.Page()
		example, ok := strings.CutPrefix(page[len(page)-1], "  - ")
		if !ok || k.Doc() == "" {
			t.Errorf("%s: %q: want what it does, and an example", k, page)
			continue
		}
		text := strings.Replace(withFaults, "{at: 1ms, for: 500us, link: h1-3, do: blackhole}", example, 1)
		s, err := Parse("f.yaml", ".", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", example, err)
		} else if got := s.Faults.Timeline[0].Do; got != k {
			t.Errorf("%s: is a %s", example, got)
		}
	}
}
