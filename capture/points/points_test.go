package points

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sirdbed/baselines/all"
	"sirdbed/capture/code"
	"sirdbed/capture/results"
	"sirdbed/capture/verdict"
	"sirdbed/emu"
	"sirdbed/emu/model"
	"sirdbed/emu/tree"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

func experiment() emu.Experiment {
	return emu.Experiment{
		Scenario: "s", Variant: "v", Protocol: "sird", Seed: 1 << 52,
		Topology: topo.Spec{Leaves: 1, HostsPerLeaf: 3, HostRate: 100e9, HostDelay: units.Microsecond},
		Streams:  []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Sizes: "wka", Load: 0.123456789}},
		Duration: units.Millisecond, Drain: units.Millisecond, QueueEvery: 10 * units.Microsecond,
		GaugeEvery: 10 * units.Microsecond,
	}
}

// run makes a point of an experiment.
func run(t *testing.T, x emu.Experiment) *Point {
	t.Helper()
	dir, err := tree.Make(filepath.Join(t.TempDir(), "run"))
	must(t, err)
	defer dir.Close()
	fold, err := results.NewFold(&x, results.Options{})
	must(t, err)
	facts, err := model.Engine{}.Run(t.Context(), &x, emu.RunDir{Dir: dir}, emu.Hooks{CreateLog: fold.Create})
	must(t, err)
	v := fold.Variant(facts)
	v.Verdict = verdict.Judge(v)
	p, err := New(emu.Model, &x, v)
	must(t, err)
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What is kept of a point comes back, is found by its experiment whatever that is called,
// and takes some KB.
func TestPointIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "points")
	s, err := OpenStore(path)
	must(t, err)
	defer s.Close()
	x := experiment()
	p := run(t, x)
	kept, err := s.Put(p)
	must(t, err)
	x.Scenario, x.Variant = "other", "name"
	a, err := AddressOf(emu.Model, &x)
	must(t, err)
	got, stale := s.Get(a)
	if got == nil || stale || !reflect.DeepEqual(got, kept) {
		t.Fatalf("got %+v (stale: %v), want %+v", got, stale, kept)
	}
	if got.Experiment.Streams[0].Load != 0.123456789 || got.Experiment.Seed != 1<<52 {
		t.Errorf("the experiment is rounded: %+v", got.Experiment)
	}
	v, err := got.Variant("here")
	must(t, err)
	if v.Name != "here" || v.Goodput.Gbps == 0 || v.Received(1) == 0 || v.Latencies.Slowdown == nil ||
		len(v.Curves.Queues) == 0 || len(v.Course.Offered) == 0 || v.Verdict.Level != results.Pass {
		t.Errorf("%+v", v)
	}
	got.Unbounded, got.Result.GoodputGbps = "ended in its warm-up", 0
	v, err = got.Variant("ended early")
	must(t, err)
	if v.Goodput.Gbps == 0 || v.Goodput.Gbps != got.Goodput() {
		t.Errorf("%v Gbps of what it carried, %v", v.Goodput.Gbps, got.Goodput())
	}
	info, err := os.Stat(filepath.Join(path, p.Key+suffix))
	if err != nil || info.Size() > Size {
		t.Errorf("%v bytes, %v", info.Size(), err)
	}
}

// Whoever keeps the same point at the same time, it is whole and there once.
func TestPointIsKeptByManyAtOnce(t *testing.T) {
	path := t.TempDir()
	p := run(t, experiment())
	a := Address{p.Key, p.Code}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s, err := OpenStore(path) // as processes do
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for range 50 {
				if _, err := s.Put(p); err != nil {
					t.Error(err)
				}
				if got, stale := s.Get(a); got == nil || stale {
					t.Errorf("%v", s.Damaged())
				}
			}
		})
	}
	wg.Wait()
	if entries, err := os.ReadDir(path); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// Each thing that a result depends on is part of its address.
func TestAddress(t *testing.T) {
	base := experiment()
	first, err := AddressOf(emu.Model, &base)
	must(t, err)
	for i, change := range []func(*emu.Experiment){
		func(x *emu.Experiment) { x.Seed = 2 },
		func(x *emu.Experiment) { x.Topology.HostDelay++ },
		func(x *emu.Experiment) { x.Streams[0].Load = 0.1234567891 },
		func(x *emu.Experiment) { x.Params = []byte(`{"b":2}`) },
		func(x *emu.Experiment) { x.Drain++ },
		func(x *emu.Experiment) { x.Protocol = "homa" },
	} {
		x := experiment()
		change(&x)
		if a, err := AddressOf(emu.Model, &x); err != nil || a.Key == first.Key {
			t.Errorf("change %d: %v, %v", i, a, err)
		}
	}
	if a, _ := AddressOf(emu.Virtual, &base); a.Key == first.Key || a.Code == first.Code {
		t.Error("the engine does not count")
	}
	p, err := all.Find("sird")
	must(t, err)
	if sum, err := code.Of(emu.Model, &p); err != nil || sum != first.Code {
		t.Error(sum, err)
	}
}

func pointText(t *testing.T, p *Point) string {
	t.Helper()
	text, err := p.encode()
	must(t, err)
	return string(text)
}

// Points of other code are stale, damaged ones are not there.
func TestStaleAndDamagedPoints(t *testing.T) {
	path := t.TempDir()
	s, err := OpenStore(path)
	must(t, err)
	defer s.Close()
	x := experiment()
	p := run(t, x)
	a, err := AddressOf(emu.Model, &x)
	must(t, err)
	if got, _ := s.Get(a); got != nil {
		t.Error("a point that is not there")
	}
	p.Code = "0000000000000000"
	_, err = s.Put(p)
	must(t, err)
	if got, stale := s.Get(a); got == nil || !stale {
		t.Error("a point of other code is not stale")
	}
	file := filepath.Join(path, p.Key+suffix)
	whole, err := os.ReadFile(file)
	must(t, err)
	y := x
	y.Seed = 2
	other := pointText(t, run(t, y)) // whole, under the wrong name
	for _, text := range []string{
		"", "{", string(whole[:len(whole)/2]), `{"format":1}`,
		strings.Replace(string(whole), `"seed":4503599627370496`, `"seed":7`, 1), other,
		strings.NewReplacer(`"seed":4503599627370496`, `"seed": 7`, `{"sum"`, `{ "sum"`).Replace(string(whole)),
	} {
		must(t, os.WriteFile(file, []byte(text), 0o666))
		if got, _ := s.Get(a); got != nil || len(s.Damaged()) != 1 {
			t.Errorf("%.40q is a point: %v", text, s.Damaged())
		}
	}
	_, err = decode([]byte(`{"format":99}`))
	if _, ok := errors.AsType[*results.FormatError](err); !ok {
		t.Error(err)
	}
}

// What killed processes left goes after a day, and nothing else does.
func TestPrepareRemovesLeftovers(t *testing.T) {
	path := t.TempDir()
	s, err := OpenStore(path)
	must(t, err)
	defer s.Close()
	const own = "0566dea09926d7c1-64PZNLFLSCJIKO5VVXPLZ3X3SV.json"
	stay := []string{"0566dea09926d7c1.json", "README.md", "new-" + own, own + ".txt"}
	for _, name := range append([]string{own, own + ".part"}, stay...) {
		file := filepath.Join(path, name)
		must(t, os.WriteFile(file, nil, 0o666))
		old := time.Now().Add(-25 * time.Hour)
		must(t, os.Chtimes(file, old, old))
	}
	young := strings.Replace(own, "0566", "1566", 1)
	must(t, os.WriteFile(filepath.Join(path, young), nil, 0o666))
	must(t, s.Prepare())
	entries, err := os.ReadDir(path)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := append(stay, young)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

// A directory that is gone, or takes no files, is found out before a point is run.
func TestPrepareFailsWhereNothingCanBeKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "points")
	s, err := OpenStore(path)
	must(t, err)
	defer s.Close()
	must(t, os.Remove(path))
	if err := s.Prepare(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error that names %s", err, path)
	}
}

// A point whose file has changed, or that has what no run makes, is run again.
func TestUnsoundPoints(t *testing.T) {
	p := run(t, experiment())
	text := pointText(t, p)
	bare := "{" + text[strings.Index(text, `",`)+2:]
	summed := func(text string) string { return string(withSum([]byte(text))) }
	for _, c := range []struct{ name, text, want string }{
		{"whole", text, ""},
		{"with a line's end", text + "\r\n", ""},
		{"without a checksum", bare, "no checksum"},
		{"its checksum behind the rest", bare[:len(bare)-1] + `,"sum":"0"}`, "written anew"},
		{"another figure", strings.Replace(text, `"offered_gbps":`, `"offered_gbps":1`, 1), "checksum"},
		{"another checksum", strings.Replace(text, sumHead, sumHead+"0", 1), "checksum"},
		{"no verdict", summed(strings.Replace(bare, `"verdict":"PASS"`, `"verdict":""`, 1)), `its verdict is ""`},
		{"an unknown verdict", summed(strings.Replace(bare, `"verdict":"PASS"`, `"verdict":"FINE"`, 1)), `"FINE"`},
		{"less than no goodput", summed(strings.Replace(bare, `"goodput_gbps":`, `"goodput_gbps":-1`, 1)),
			"goodput is -1"},
		{"parts without length",
			summed(regexp.MustCompile(`"slice_ns":"[^"]*"`).ReplaceAllString(bare, `"slice_ns":"0ns"`)),
			"parts of its course last 0"},
	} {
		if c.want != "" && c.text == text {
			t.Fatalf("%s: nothing was changed", c.name)
		}
		_, err := decode([]byte(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A point that no run makes is not kept, and keeps no other away.
func TestUnsoundPointIsNotKept(t *testing.T) {
	s, err := OpenStore(t.TempDir())
	must(t, err)
	defer s.Close()
	p := run(t, experiment())
	p.Result.GoodputGbps = 1e5
	want := "no run makes this: its goodput"
	if _, err := s.Put(p); !errors.Is(err, ErrThisPoint) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	fast := 100_000 * units.Gbps // a link that is faster than the others
	p.Experiment.Topology.Links = []topo.LinkOverride{{Between: [2]string{"h1-1", "leaf1"}, Rate: &fast}}
	p.Key, err = Key(p.Engine, &p.Experiment)
	must(t, err)
	if _, err := s.Put(p); err != nil {
		t.Error(err)
	}
}

// A directory in a point's place is named before anything is run, and keeps no other point away.
func TestADirectoryInAPointsPlace(t *testing.T) {
	path := t.TempDir()
	s, err := OpenStore(path)
	must(t, err)
	defer s.Close()
	p := run(t, experiment())
	must(t, os.Mkdir(filepath.Join(path, p.Key+".json"), 0o777))
	want := "is a directory where a point belongs: remove it"
	if err := s.Prepare(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Put(p); !errors.Is(err, ErrThisPoint) || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("got %v", err)
	}
	if entries, err := os.ReadDir(path); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v: something was left", entries, err)
	}
}
