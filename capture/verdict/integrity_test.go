package verdict

import (
	"strings"
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/capture/results"
	"sirdbed/sirdnode/record"
	"sirdbed/traffic"
)

func TestIntegrityErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*fakerun.Run)
		want string
	}{
		{"twice", func(r *fakerun.Run) { r.Log(1, record.Delivered, 0, 0, 0, 3*ms, 1000) }, "delivered twice"},
		{"never offered", func(r *fakerun.Run) { r.Log(1, record.Delivered, 0, 9, 0, 3*ms, 1000) }, "never offered"},
		{"wrong size", func(r *fakerun.Run) {
			r.Message(0, 2, 0, 0, 500, 2*ms, 0)
			r.Log(2, record.Delivered, 0, 0, 0, 3*ms, 501)
		}, "ended with 501"},
		{"before it was sent", func(r *fakerun.Run) { r.Message(0, 2, 0, 0, 500, 2*ms, ms) }, "before it was offered"},
		{"bytes", func(r *fakerun.Run) { r.Counter(2, "payload_mismatches", 3) }, "3 packets carried bytes"},
		{"no such host", func(r *fakerun.Run) { r.Log(0, record.Offered, 77, 0, 0, ms, 1) }, "host number 77"},
		{"no such stream", func(r *fakerun.Run) { r.Message(0, 2, 0, traffic.Tag(5<<24), 500, 2*ms, 3*ms) },
			"stream 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := fakerun.New(t, fakerun.OneWay)
			r.Message(0, 1, 0, 0, 1000, 2*ms, 2*ms+9*us)
			c.do(r)
			v := judged(t, r)
			if v.Verdict.Level != results.Invalid || !strings.Contains(strings.Join(v.Verdict.Reasons, "\n"), c.want) {
				t.Errorf("%s %q, want INVALID with %q", v.Verdict.Level, v.Verdict.Reasons, c.want)
			}
		})
	}
}
