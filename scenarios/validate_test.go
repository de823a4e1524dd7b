package scenarios

import (
	"strings"
	"testing"

	"sirdbed/emu"
	"sirdbed/topo/units"
)

// firstLine is the error of a scenario without the excerpt.
func firstLine(t *testing.T, text string) string {
	t.Helper()
	_, err := Parse("f.yaml", ".", []byte(text))
	if err == nil {
		t.Fatal("got no error, want one")
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// Names and times that cannot be are found at their place.
func TestNamesAndTimesThatCannotBe(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"no name", "name: x\n", "", `f.yaml: name: missing: a scenario needs a name, which names its results`},
		{"name", "name: x\n", "name: X\n", `f.yaml:1:7: "X": want small letters, digits, dots and dashes`},
		{"name that is a path", "name: x\n", "name: ../x\n",
			`f.yaml:1:7: "../x": want small letters, digits, dots and dashes`},
		{"variant's name", "name: b", "name: b c",
			`f.yaml:11:11: "b c": want small letters, digits, dots and dashes`},
		{"duration", "duration: 1ms", "duration: 3601s",
			`f.yaml:14:11: duration is 3601s: want 1ns to 3600s: nominal times, and their sums, stay far from ` +
				`overflow`},
		{"warm-up", "duration: 1ms", "duration: 1ms\nwarmup: 3601s",
			`f.yaml:15:9: warmup is 3601s: want 0ns to 3600s: nominal times, and their sums, stay far from overflow`},
		{"drain", "duration: 1ms", "duration: 1ms\ndrain: 3601s",
			`f.yaml:15:8: drain is 3601s: want 0ns to 3600s: nominal times, and their sums, stay far from overflow`},
		{"sampled too often", "duration: 1ms", "duration: 1ms\nsample: {queues: 999ns}",
			`f.yaml:15:18: queues is 999ns: want 1us to 3600s: a look takes time, and is of use within the window`},
		{"sampled too rarely", "duration: 1ms", "duration: 1ms\nsample: {gauges: 2ms}",
			`f.yaml:15:18: 2ms: want 1us to the duration, 1ms`},
		{"variant's duration", "name: b", "name: b\n    duration: 0s",
			`f.yaml:12:15: duration is 0ns: want 1ns to 3600s: nominal times, and their sums, stay far from overflow`},
		{"variant's warm-up", "name: b", "name: b\n    warmup: 3601s",
			`f.yaml:12:13: warmup is 3601s: want 0ns to 3600s: nominal times, and their sums, stay far from overflow`},
		{"variant's drain", "name: b", "name: b\n    drain: 3601s",
			`f.yaml:12:12: drain is 3601s: want 0ns to 3600s: nominal times, and their sums, stay far from overflow`},
		{"no traffic", "traffic:\n  - name: small\n    pattern: fixed\n    size: 8B\n    interval: 40us\n", "",
			`f.yaml: traffic: missing: without traffic or apps there is nothing to measure`},
		{"a protocol twice", "duration:", "protocols: [sird, homa, sird]\nduration:",
			`f.yaml:14:25: sird is there twice`},
		{"a capture twice", "duration:", "capture: [leaf1, h1-1, leaf1]\nduration:",
			`f.yaml:14:24: leaf1 is there twice`},
		{"a capture of a port twice", "duration:", "capture: ['leaf1>h1-1', 'leaf1>h1-1']\nduration:",
			`f.yaml:14:25: leaf1>h1-1 is there twice`},
		{"a capture of a node and its port", "duration:", "capture: ['leaf1>h1-1', leaf1]\nduration:",
			`f.yaml:14:11: leaf1>h1-1 is a port of leaf1, all of which are captured: leave it out`},
		{"variant's protocol", "name: b", "name: b\n    protocol: homma",
			`f.yaml:12:15: no protocol is called "homma": use one of ` + protocols() + `: did you mean "homa"?`},
		{"kernel TCP's parameter", "duration:", "protocol: tcp-cubic\ntcp-cubic: {connections: 0}\nduration:",
			`f.yaml:15:26: connections is 0: want 1 to 256: a header names a connection in 8 bits`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(good, c.old, c.new, 1)
			if text == good {
				t.Fatalf("%q is not in the file", c.old)
			}
			if got := firstLine(t, text); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Streams of more messages than can be told apart are found before a run: of the
// scenario, and at a variant's load or duration.
func TestMoreMessagesThanCanBeToldApart(t *testing.T) {
	const stream = "    size: 8B\n    interval: 40us\n"
	const told = "messages from one host by 1ms: at most 16777216 can be told apart; split the stream or end it sooner"
	if !strings.Contains(good, stream) {
		t.Fatal("the file has another stream")
	}
	for _, c := range []struct{ name, stream, variant, want string }{
		{"of the scenario", "    size: 8B\n    load: 100\n    overload: true\n", "",
			"f.yaml:7:11: about 156250000 " + told},
		{"in a variant", "    size: 8B\n    load: 0.5\n    overload: true\n", "load: 100",
			"f.yaml:13:11: about 156250000 " + told},
		{"stopped in time", "    size: 8B\n    load: 100\n    overload: true\n    stop: 1us\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(good, stream, c.stream, 1)
			if c.variant != "" {
				text = strings.Replace(text, "name: b", "name: b\n    "+c.variant, 1)
			}
			_, err := Parse("f.yaml", ".", []byte(text))
			if c.want == "" {
				if err != nil {
					t.Errorf("got %v, want no error", err)
				}
				return
			}
			if got := firstLine(t, text); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A bound that claims nothing, or of what there is not, is found before a run.
func TestBoundsThatCannotBe(t *testing.T) {
	for _, c := range []struct{ name, bound, want string }{
		{"no name", "{metric: latency_us, max: 1}", `f.yaml:16:5: bounds[0].name: missing: say what is claimed`},
		{"no limit", "{name: b, metric: latency_us}", `f.yaml:16:5: "b" has neither min nor max: it claims nothing`},
		{"limits in reverse", "{name: b, metric: latency_us, min: 2, max: 1}",
			`f.yaml:16:40: 2 is above max, 1: nothing can meet it`},
		{"per nothing", "{name: b, metric: queue_bytes, max: 1, per: inf}",
			`f.yaml:16:49: per is inf: want 1B to 1099.511627775GB: it is a number of bytes to divide by`},
		{"variant", "{name: b, metric: latency_us, max: 1, variant: third}",
			`f.yaml:16:52: no variant is called "third": there are a, b`},
		{"stream", "{name: b, metric: latency_us, max: 1, stream: smal}",
			`f.yaml:16:51: no stream of it is called "smal": did you mean "small"?`},
		{"host", "{name: b, metric: goodput_gbps, max: 1, host: h3-1}",
			`f.yaml:16:51: no host is called "h3-1": hosts are h1-1 to h2-4`},
		{"one of several hosts", "{name: b, metric: goodput_gbps, max: 1, hosts: [h1-1, h3-1]}",
			`f.yaml:16:59: no host is called "h3-1": hosts are h1-1 to h2-4`},
		{"switch", "{name: b, metric: queue_bytes, max: 1, switch: h1-1}",
			`f.yaml:16:52: no switch is called "h1-1": want such as leaf1, or leaf or spine for all of them`},
		{"port", "{name: b, metric: queue_bytes, max: 1, port: leaf1}",
			`f.yaml:16:50: no port is called "leaf1": want such as "leaf1>h1-1", or downlinks, uplinks or core`},
		{"variant to compare with", "{name: b, metric: latency_us, max: 1, over: {variant: third}}",
			`f.yaml:16:59: no variant is called "third": there are a, b`},
		{"protocol to compare with", "{name: b, metric: latency_us, max: 1, minus: {protocol: homa}}",
			`f.yaml:16:61: no variant runs "homa": there are sird`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := firstLine(t, good+"bounds:\n  - "+c.bound+"\n"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// What a variant states takes the scenario's place; what the user asks for, both's.
func TestExperimentsOfVariants(t *testing.T) {
	text := strings.Replace(good, "name: b\n", "name: b\n    warmup: 0s\n    duration: 3ms\n    drain: 5ms\n", 1) +
		"warmup: 2ms\ndrain: 1ms\nseed: 4\ndilation: 70\nprotocols: [sird, homa]\n"
	s, err := Parse("f.yaml", ".", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	const ms = units.Millisecond
	for _, c := range []struct {
		name    string
		options Options
		want    []emu.Experiment // some fields of them
	}{
		{"all", Options{}, []emu.Experiment{
			{Variant: "a-sird", Warmup: 2 * ms, Duration: ms, Drain: ms, Seed: 4, Dilation: 70},
			{Variant: "a-homa", Warmup: 2 * ms, Duration: ms, Drain: ms, Seed: 4, Dilation: 70},
			{Variant: "b-sird", Duration: 3 * ms, Drain: 5 * ms, Seed: 4, Dilation: 70},
			{Variant: "b-homa", Duration: 3 * ms, Drain: 5 * ms, Seed: 4, Dilation: 70},
		}},
		{"a variant", Options{Variants: []string{"b"}, Seed: 9}, []emu.Experiment{
			{Variant: "b-sird", Duration: 3 * ms, Drain: 5 * ms, Seed: 9, Dilation: 70},
			{Variant: "b-homa", Duration: 3 * ms, Drain: 5 * ms, Seed: 9, Dilation: 70},
		}},
		{"a label", Options{Variants: []string{"b-homa"}, Dilation: 30}, []emu.Experiment{
			{Variant: "b-homa", Duration: 3 * ms, Drain: 5 * ms, Seed: 4, Dilation: 30},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := s.Experiments(c.options)
			if err != nil || len(list) != len(c.want) {
				t.Fatalf("got %d experiments (%v), want %d", len(list), err, len(c.want))
			}
			for i, want := range c.want {
				if x := list[i]; x.Variant != want.Variant || x.Warmup != want.Warmup || x.Duration != want.Duration ||
					x.Drain != want.Drain || x.Seed != want.Seed || x.Dilation != want.Dilation {
					t.Errorf("got %+v, want %+v", x, want)
				}
			}
		})
	}
	if _, err := s.Experiments(Options{Variants: []string{"b-hom"}}); err == nil ||
		!strings.Contains(err.Error(), `x has no such variant: did you mean "b-homa"?`) {
		t.Errorf("got %v, want the variant that was meant", err)
	}
}

func TestDilationText(t *testing.T) {
	for text, want := range map[string]Dilation{"auto": 0, "1": 1, "1000000": 1_000_000} {
		t.Run(text, func(t *testing.T) {
			var d Dilation
			if err := d.UnmarshalText([]byte(text)); err != nil || d != want {
				t.Errorf("got %d (%v), want %d", d, err, want)
			}
			if back, err := d.MarshalText(); err != nil || string(back) != text {
				t.Errorf("got %q back (%v), want %q", back, err, text)
			}
		})
	}
	for _, text := range []string{"", "0", "-1", "1.5", "1000001", "Auto"} {
		t.Run("not "+text, func(t *testing.T) {
			if err := new(Dilation).UnmarshalText([]byte(text)); err == nil {
				t.Errorf("got no error, want one")
			}
		})
	}
}
