package verdict

import (
	"slices"
	"strings"
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/emu"
)

// A run of programs alone may end before its window does, with those that it waits for,
// and hosts without traffic cannot be late.
func TestRunOfProgramsAlone(t *testing.T) {
	for _, c := range []struct {
		name string
		end  *int
		want string // part of the reasons, "" for none
	}{
		{"ended", new(0), ""},
		{"goes on", nil, "run: it ended at 5ms of a window"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := fakerun.New(t)
			r.X.Streams, r.Facts.Reached, r.Facts.Lateness.P99 = nil, 5*ms, 2*us
			r.X.Apps = []emu.App{{Name: "a"}, {Name: "server", Ready: "port 1"}}
			r.Facts.Apps = []emu.AppFacts{{Name: "a", Met: true, Exit: c.end}, {Name: "server", Met: true}}
			reasons := judged(t, r).Verdict.Reasons
			about := slices.DeleteFunc(reasons, func(text string) bool {
				return !strings.HasPrefix(text, "run:") && !strings.HasPrefix(text, "wake-up lateness:")
			})
			if got := strings.Join(about, "; "); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
