package effort

import (
	"runtime"
	"testing"
	"time"
)

// A test is one whose failure is looked at.
type test struct {
	testing.TB
	failed bool
}

func (*test) Helper() {}

func (t *test) Fatalf(string, ...any) {
	t.failed = true
	runtime.Goexit()
}

// failed returns whether what a test asks for fails it.
func failed(t *testing.T, ask func(testing.TB)) bool {
	f, done := &test{TB: t}, make(chan struct{})
	go func() { defer close(done); ask(f) }()
	<-done
	return f.failed
}

// What is no number fails a test: it is not left out.
func TestNoNumberFails(t *testing.T) {
	const name = "SIRDBED_SEEDS"
	for _, c := range []struct {
		text                    string
		count                   int
		seed                    uint64
		time                    time.Duration
		noCount, noSeed, noTime bool
	}{
		{text: "", count: 8},
		{text: "20", count: 20, seed: 20, noTime: true},
		{text: "0", noCount: true, noTime: true},
		{text: "-1", noCount: true, noSeed: true, noTime: true},
		{text: "1h", noCount: true, noSeed: true, time: time.Hour},
		{text: "1e6", noCount: true, noSeed: true, noTime: true},
		{text: "many", noCount: true, noSeed: true, noTime: true},
		{text: "-1h", noCount: true, noSeed: true, noTime: true},
	} {
		t.Setenv(name, c.text)
		for _, ask := range []struct {
			what string
			ask  func(testing.TB)
			want bool
		}{
			{"count", func(tb testing.TB) {
				if got := Count(tb, name, 8); got != c.count {
					t.Errorf("%q: got a count of %d, want %d", c.text, got, c.count)
				}
			}, c.noCount},
			{"seed", func(tb testing.TB) {
				if got := Seed(tb, name); got != c.seed {
					t.Errorf("%q: got the seed %d, want %d", c.text, got, c.seed)
				}
			}, c.noSeed},
			{"time", func(tb testing.TB) {
				if got := Duration(tb, name); got != c.time {
					t.Errorf("%q: got %v, want %v", c.text, got, c.time)
				}
			}, c.noTime},
		} {
			if got := failed(t, ask.ask); got != ask.want {
				t.Errorf("%q as a %s: failed %v, want %v", c.text, ask.what, got, ask.want)
			}
		}
	}
}
