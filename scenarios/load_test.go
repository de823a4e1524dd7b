package scenarios

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sirdbed/baselines/all"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo/units"
)

// protocols lists the names of all, as errors do.
func protocols() string {
	var names []string
	for _, p := range all.List() {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// good is a valid scenario, which the tests below break.
const good = `name: x
topology: {leaves: 2, hosts_per_leaf: 4, spines: 1, host_rate: 100Gbps, host_delay: 2us,` +
	` core_rate: 400Gbps, core_delay: 1us}
traffic:
  - name: small
    pattern: fixed
    size: 8B
    interval: 40us
sird: {b: 2, sthr: 0.5}
variants:
  - name: a
  - name: b
    traffic: [small]
    sird: {sthr: inf}
duration: 1ms
`

func TestErrorsSayWhere(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		want           string // the first line of the error
	}{
		{"unknown key", "topology:", "topolgy:",
			`f.yaml:2:1: unknown key "topolgy" in the scenario: did you mean "topology"?`},
		{"unknown key in a stream", "interval:", "intervall:",
			`f.yaml:7:5: unknown key "intervall" in traffic item: did you mean "interval"?`},
		{"unknown key in a section", "sthr: 0.5", "stth: 0.5",
			`f.yaml:8:14: unknown key "stth" in sird: did you mean "sthr"?`},
		{"unknown protocol's section", "sird: {b", "sidr: {b",
			`f.yaml:8:1: unknown key "sidr" in the scenario: did you mean "sird"?`},
		{"no unit", "size: 8B", "size: 8",
			`f.yaml:6:11: size "8" has no unit: add one of B, KB, MB, GB, KiB, MiB, GiB`},
		{"unit of something else", "host_delay: 2us", "host_delay: 2MB",
			`f.yaml:2:85: host_delay: time "2MB" has the unknown unit "MB": use one of ns, us, ms, s`},
		{"text for a number", "leaves: 2", "leaves: two", `f.yaml:2:20: leaves: want a whole number, not "two"`},
		{"value for a mapping", "sird: {b: 2, sthr: 0.5}", "sird: 3",
			`f.yaml:8:7: sird: want keys and values, such as "account_unscheduled: ..."`},
		{"value for a list", "traffic: [small]", "traffic: small",
			`f.yaml:12:14: traffic: want a list, such as [ ... ]`},
		{"no such choice", "sird: {b: 2,", "sird: {receiver_policy: fifo,",
			`f.yaml:8:25: receiver_policy: "fifo" is not one of srpt, round_robin`},
		{"no such pattern", "pattern: fixed", "pattern: fixd",
			`f.yaml:5:14: pattern: "fixd" is not one of poisson, fixed, incast, outcast, list: did you mean "fixed"?`},
		{"no such engine", "duration:", "engine: rael\nduration:",
			`f.yaml:14:9: engine: "rael" is not one of real, virtual, model: did you mean "real"?`},
		{"nothing like it", "[small]", "[x]", `f.yaml:12:15: no stream is called "x": there are small`},
		{"empty value", "duration: 1ms", "duration:",
			`f.yaml:14:11: duration is empty: give it a value or leave it out`},
		{"missing field", "duration: 1ms\n", "",
			`f.yaml: duration: missing: say how long the measured window is, such as 50ms`},
		{"impossible topology", "spines: 1", "spines: 0",
			`f.yaml:2:50: 2 leaves with no spine cannot reach one another: add spines, or use one leaf`},
		{"impossible host", "size: 8B", "to: [h3-1]\n    size: 8B",
			`f.yaml:6:10: no host is called "h3-1": hosts are h1-1 to h2-4`},
		{"impossible parameter", "b: 2", "b: 0.1",
			`f.yaml:8:11: b is 0.1: want 1 to 1e+09 or inf: with less a receiver cannot fill its link; ` +
				`amounts of credit stay far from overflow, and inf is for no limit`},
		{"impossible parameter of a variant", "sthr: inf", "sthr: -1",
			`f.yaml:13:18: sthr is -1: want 0 to 1e+09 or inf: ` +
				`amounts of credit stay far from overflow, and inf is for no limit`},
		{"unknown stream", "[small]", "[smal]", `f.yaml:12:15: no stream is called "smal": did you mean "small"?`},
		{"same variant twice", "name: b", "name: a", `f.yaml:11:11: variant 1 is called "a" too`},
		{"unknown protocol", "duration:", "protocol: sidr\nduration:",
			`f.yaml:14:11: no protocol is called "sidr": use one of ` + protocols() + `: did you mean "sird"?`},
		{"unknown port", "duration:", "capture: [leaf7]\nduration:",
			`f.yaml:14:11: no node or port is called "leaf7": ` +
				`nodes are such as leaf1 or h1-1, ports such as "leaf1>h1-1"`},
		{"faults", "duration:", "faults: {drop: 2}\nduration:",
			`f.yaml:14:16: drop is 2: want 0 to 1: it is a share of the packets`},
		{"dilation", "duration:", "dilation: fast\nduration:",
			`f.yaml:14:11: dilation: "fast" is not a dilation factor: want auto or a whole number from 1 to 1000000`},
		{"guests", "duration:", "guests: two\nduration:",
			`f.yaml:14:9: guests: "two" is no number of guests: want auto or a whole number from 1 to 64`},
		{"more guests than racks", "duration:", "guests: 3\nduration:",
			`f.yaml:14:9: 3 guests for 2 racks: a rack is in one guest, so want at most 2`},
		{"guests without a delay", " core_delay: 1us}", "}\nguests: 2",
			`f.yaml:3:9: 2 guests: links between them need a delay (topology.core_delay)`},
		{"guests of programs", "duration:", "guests: 2\napps:\n  - {name: a, host: h1-1, run: ['true']}\nduration:",
			`f.yaml:14:9: 2 guests: programs (apps) run in one`},
		{"same key twice", "duration:", "name: y\nduration:",
			`f.yaml:14:1: mapping key "name" already defined at [1:1]`},
		{"tabs", "topology: {", "topology:\n\tleaves: {", "f.yaml:3:1: a tab: indent with spaces"},
		{"wrong indentation", "duration: 1ms", "  duration: 1ms",
			"f.yaml:14:3: value is not allowed in this context: indent it like the keys beside it"},
		{"not YAML", "[small]", "[small", "f.yaml:13:5: ',' or ']' must be specified"},
		{"an alias", "sird: {sthr: inf}", "sird: *x",
			`f.yaml:13:11: aliases (*name) are not for scenario files: write the value out`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(good, c.old, c.new, 1)
			if text == good {
				t.Fatalf("%q is not in the file", c.old)
			}
			_, err := Parse("f.yaml", ".", []byte(text))
			if err == nil {
				t.Fatal("no error")
			}
			if got, _, _ := strings.Cut(err.Error(), "\n"); got != c.want {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
		})
	}
}

func TestErrorShowsTheLine(t *testing.T) {
	_, err := Parse("f.yaml", ".", []byte(strings.Replace(good, "[small]", "[smal]", 1)))
	want := `f.yaml:12:15: no stream is called "smal": did you mean "small"?
   12 |     traffic: [smal]
      |               ^`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestAllErrorsAtOnce(t *testing.T) {
	text := strings.NewReplacer("8B", "8", "duration", "durration", "0.5", "half").Replace(good)
	_, err := Parse("f.yaml", ".", []byte(text))
	if errs, ok := errors.AsType[Errors](err); !ok || len(errs) != 3 {
		t.Errorf("want 3 errors, got\n%v", err)
	}
}

func TestFilesThatAreNoScenario(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "just text", "- a\n- b\n", "a: 1\n---\nb: 2\n", "\x00\xff", "{",
		"? : :", "name: [x]\n", "traffic: {}\n"} {
		if _, err := Parse("f.yaml", ".", []byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestVariantsOverrideParameters(t *testing.T) {
	s, err := Parse("f.yaml", ".", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Experiments(Options{Seed: 7, Dilation: 3})
	if err != nil || len(list) != 2 {
		t.Fatalf("%d experiments (%v), want 2", len(list), err)
	}
	var a, b map[string]any
	json.Unmarshal(list[0].Params, &a)
	json.Unmarshal(list[1].Params, &b)
	if a["sthr"] != 0.5 || a["b"] != 2.0 || b["sthr"] != "inf" || b["b"] != 2.0 {
		t.Errorf("parameters are %v and %v, want b 2 with sthr 0.5 and inf", a, b)
	}
	if x := list[1]; x.Variant != "b" || x.Seed != 7 || x.Dilation != 3 || x.Duration != units.Millisecond ||
		len(x.Streams) != 1 {
		t.Errorf("experiment is %+v, want b for 1ms with one stream, seed 7 and dilation 3", x)
	}
	one, err := s.Experiments(Options{Variants: []string{"b"}})
	if err != nil || len(one) != 1 || one[0].Variant != "b" {
		t.Errorf("--variant b: got %v (%v), want b alone", one, err)
	}
	if _, err := s.Experiments(Options{Variants: []string{"c"}}); err == nil {
		t.Error("--variant c: no error")
	}
}

func TestChanges(t *testing.T) {
	parse := func(changes ...string) (*Scenario, error) {
		var list []Change
		for _, text := range changes {
			c, err := ParseChange(text)
			if err != nil {
				return nil, err
			}
			list = append(list, c)
		}
		return Parse("f.yaml", ".", []byte(good), list...)
	}
	s, err := parse("sird.sthr=inf", "variants.a.sird.b=3", "traffic[0].size=16 B", "sample.queues=20us",
		"variants[1].traffic[0]=small", "duration=2ms")
	if err != nil {
		t.Fatal(err)
	}
	var all, a sird.Params
	json.Unmarshal(s.Params["sird"], &all)
	json.Unmarshal(s.Variants[0].Params["sird"], &a)
	if all.SThr < 1e9 || all.B != 2 || a.B != 3 || s.Traffic[0].Size != 16 || s.Sample.Queues != 20*units.Microsecond ||
		s.Duration != 2*units.Millisecond {
		t.Errorf("scenario is %+v, want it with all changes", s)
	}
	const several = ": it sets more than that one value: give each a --set of its own"
	for change, want := range map[string]string{
		"sird.sthr":              "--set sird.sthr: want path=value, such as sird.sthr=inf",
		"sird.stthr=1":           `--set sird.stthr=1: unknown key "stthr" in sird: did you mean "sthr"?`,
		"duration=5":             `--set duration=5: duration: time "5" has no unit: add one of ns, us, ms, s`,
		"description=a\nname: b": `"--set description=a\nname: b"` + several,
		"sird.x.y=1, z: 2":       "--set sird.x.y=1, z: 2" + several,
		"seed=1\n---\nseed: 2":   `"--set seed=1\n---\nseed: 2"` + several,
		"- a=1":                  "--set - a=1" + several,
		"name.x=1":               "--set name.x=1: name is a single value, it has no \"x\"",
		"traffic.big.size=1B":    "--set traffic.big.size=1B: traffic has no item \"big\"",
		"sird.b={":               `--set sird.b={: "b: {" is not a value`,
		".=1":                    "--set .=1: no such path: want one such as sird.sthr or traffic.small.size",
	} {
		t.Run(change, func(t *testing.T) {
			if _, err := parse(change); err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

// Files can be loaded by name from anywhere, and are the same as on disk.
func TestScenariosInTheBinary(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range Names() {
		s, err := Load(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		schema := "schema.json"
		if strings.Contains(name, "/") {
			schema = "../schema.json"
		}
		if s.Name != strings.ReplaceAll(name, "/", "-") {
			t.Errorf("%s.yaml is called %q", name, s.Name)
		}
		if !strings.HasPrefix(s.Text(), "# yaml-language-server: $schema="+schema+"\n#\n# ") {
			t.Errorf("%s.yaml does not begin with its schema and with what it is", name)
		}
	}
	for _, name := range []string{"incast", "outcast", "quickstart"} {
		t.Run(name, func(t *testing.T) {
			if _, err := Load(name + ".yaml"); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := Load("incats"); err == nil || !strings.Contains(err.Error(), `did you mean "incast"?`) {
		t.Errorf("unknown scenario: got %v, want the one that was meant", err)
	}
}

// A name means the scenario in the binary although a directory has it, as results do, but not
// where a file is called so.
func TestNamesBesideFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("incast", 0o700); err != nil {
		t.Fatal(err)
	}
	if s, err := Load("incast"); err != nil || s.Name != "incast" {
		t.Errorf("beside a directory of its name: %v", err)
	}
	for _, name := range []string{"nowhere", "."} {
		if _, err := Load(name); err == nil {
			t.Errorf("%s is a scenario", name)
		}
	}
	if err := os.WriteFile("outcast", []byte("name: mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load("outcast"); err == nil || !strings.Contains(err.Error(), "outcast:") {
		t.Errorf("a file that is no scenario: %v", err)
	}
	if s, err := LoadBuiltIn("outcast"); err != nil || s.Name != "outcast" {
		t.Errorf("the one in the binary, beside a file of its name: %v", err)
	}
}

func TestListStreams(t *testing.T) {
	dir := t.TempDir()
	text := strings.Replace(good, "pattern: fixed\n    size: 8B\n    interval: 40us",
		"pattern: list\n    file: flows.csv", 1)
	write := func(csv string) {
		if err := os.WriteFile(filepath.Join(dir, "flows.csv"), []byte(csv), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Parse("f.yaml", dir, []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "f.yaml:6:11: ") {
		t.Errorf("no such file: got %v, want an error at f.yaml:6:11", err)
	}
	write("time,src,dst,size\n1us,h1-1,h1-2,8B\n")
	if s, err := Parse("f.yaml", dir, []byte(text)); err != nil || len(s.Traffic[0].Messages) != 1 {
		t.Errorf("list: got %v, want one message", err)
	}
	write("time,src,dst,size\n1us,h1-1,h1-9,8B\n")
	if _, err := Parse("f.yaml", dir, []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "f.yaml:6:11: ") {
		t.Errorf("unknown host in the list: got %v, want an error at f.yaml:6:11", err)
	}
}
