package verdict

import (
	"strings"
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/capture/results"
	"sirdbed/emu"
)

func TestChecksAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) {
			if seen[c.Name] {
				t.Error("there are two of the name")
			}
			seen[c.Name] = true
			if c.check == nil || c.Made.of == nil {
				t.Error("it has no function, or is made of no run")
			}
			for what, text := range map[string]string{"How": c.How, "Do": c.Do} {
				if !strings.HasSuffix(text, ".") {
					t.Errorf("%s is no sentence: %q", what, text)
				}
			}
			if !strings.HasSuffix(c.Asks, "?") {
				t.Errorf("Asks is no question: %q", c.Asks)
			}
			for _, limit := range c.Thresholds {
				if limit.Of == "" || limit.Why == "" || limit.level(limit.Limit) != results.Pass {
					t.Errorf("%+v says not of what it is or why, or does not pass at its limit", limit)
				}
				if above := limit.level(limit.Limit + 1e-9); above != limit.Level || above == results.Pass {
					t.Errorf("beyond %v of %s it is %s, want %s", limit.Limit, limit.Of, above, limit.Level)
				}
			}
			if page := strings.Join(c.Page(), "\n"); !strings.Contains(page, c.Asks) || !strings.Contains(page, c.Do) {
				t.Errorf("its page lacks something:\n%s", page)
			}
		})
	}
}

// Checks are made on the engines that they are about.
func TestChecksByEngine(t *testing.T) {
	for engine, want := range map[string]string{
		"model": "run, integrity, fastest message, conservation",
		"real": "run, integrity, fastest message, conservation, socket drops, kernel drops, link drops, " +
			"capture drops, wake-up lateness, generator lag, stalls, CPU steal, busiest loop, link rate, " +
			"rounded rates",
		"virtual": "run, integrity, fastest message, conservation, socket drops, kernel drops, link drops, " +
			"capture drops, wake-up lateness, generator lag, stalls, CPU steal, busiest loop, link rate, " +
			"rounded rates, virtual time",
	} {
		t.Run(engine, func(t *testing.T) {
			r := fakerun.New(t, fakerun.OneWay)
			r.Message(0, 1, 0, 0, 1000, 2*ms, 2*ms+9*us)
			r.Facts.Engine = emu.EngineName(engine)
			var names []string
			for _, c := range judged(t, r).Verdict.Checks {
				names = append(names, c.Name)
			}
			if got := strings.Join(names, ", "); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// Where nobody's time is taken a live view may take what it likes, and the check says so.
func TestLiveViewOfOtherEngines(t *testing.T) {
	for _, engine := range []emu.EngineName{emu.Virtual, emu.Model} {
		r := fakerun.New(t, fakerun.OneWay)
		r.Message(0, 1, 0, 0, 1000, 2*ms, 2*ms+9*us)
		r.Facts.Engine, r.Facts.Live = engine, &emu.LiveFacts{CPU: 100}
		want := "100.00 s of processor time, which disturbs no run of the engine " + string(engine)
		found := false
		for _, c := range judged(t, r).Verdict.Checks {
			if c.Name == liveView.Name {
				found = c.Level == results.Pass && c.Found == want
			}
		}
		if !found {
			t.Errorf("%s: got %+v, want %q to pass", engine, judged(t, r).Verdict.Checks, want)
		}
	}
}
