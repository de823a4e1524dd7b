package results

import (
	"strings"
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/record"
	"sirdbed/topo/units"
)

// A host that restarts numbers its messages from 0 again. They are told apart by its lives
// at the sender, and at the receiver by their tags.
func TestMessagesOfSeveralLives(t *testing.T) {
	restart := func(r *fakerun.Run, at units.Time) {
		r.Hosts[0] = append(r.Hosts[0], record.Record{Kind: record.Killed, At: at},
			record.Record{Kind: record.Restarted, At: at, N: 1})
	}
	r := fakerun.New(t, fakerun.OneWay)
	r.Log(0, record.Offered, 1, 0, fakerun.Tag(t, 0, 0), ms, 1000)
	r.Log(0, record.Failed, 1, 0, fakerun.Tag(t, 0, 0), 2*ms, 1000)
	r.Message(0, 1, 1, fakerun.Tag(t, 0, 1), 2000, ms, 1500*us)
	restart(r, 2*ms)
	r.Message(0, 1, 0, fakerun.Tag(t, 0, 2), 3000, 3*ms, 4*ms)
	r.Log(1, record.Delivered, 0, 0, fakerun.Tag(t, 0, 0), 5*ms, 1000) // of the former life, late
	v := analyze(t, r)
	if problems := v.ProblemsOf(Integrity); len(problems) > 0 {
		t.Errorf("problems: %q, want none", problems)
	}
	if len(v.Messages) != 3 {
		t.Fatalf("%d messages, want 3", len(v.Messages))
	}
	for i, want := range []struct {
		size                     units.Bytes
		delivered, acked, failed units.Time
	}{
		{1000, 5 * ms, units.Never, 2 * ms}, {3000, 4 * ms, 4*ms + us, units.Never},
		{2000, 1500 * us, 1500*us + us, units.Never},
	} {
		if m := v.Messages[i]; m.Size != want.size || m.Delivered != want.delivered || m.Acked != want.acked ||
			m.Failed != want.failed {
			t.Errorf("message %d is %+v, want %+v", i, m, want)
		}
	}
}

// Once is once for each life of the receiver, and no acknowledgement is for nothing.
func TestDeliveredOnceInEachLife(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*fakerun.Run)
		want   string
	}{
		{"in two lives", func(r *fakerun.Run) {
			r.Hosts[1] = append(r.Hosts[1], record.Record{Kind: record.Restarted, At: 3 * ms, N: 1})
			r.Log(1, record.Delivered, 0, 0, fakerun.Tag(t, 0, 0), 4*ms, 1000)
		}, ""},
		{"twice in one", func(r *fakerun.Run) {
			r.Log(1, record.Delivered, 0, 0, fakerun.Tag(t, 0, 0), 4*ms, 1000)
		}, "message 0 h1-1>h1-2 was delivered twice"},
		{"acknowledged unseen", func(r *fakerun.Run) {
			r.Log(0, record.Offered, 1, 1, fakerun.Tag(t, 0, 1), 3*ms, 1000)
			r.Log(0, record.Acked, 1, 1, fakerun.Tag(t, 0, 1), 4*ms, 1000)
		}, "1 messages to h1-2 were acknowledged and never delivered"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := fakerun.New(t, fakerun.OneWay)
			r.Message(0, 1, 0, fakerun.Tag(t, 0, 0), 1000, ms, 2*ms)
			c.change(r)
			got := strings.Join(analyze(t, r).ProblemsOf(Integrity), "; ")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A restarted host numbers its gauges anew: each has one series.
func TestGaugesOfSeveralLives(t *testing.T) {
	r := fakerun.New(t, fakerun.OneWay)
	r.Gauge(0, 0, "a", fakerun.Point{At: us, Value: 1})
	r.Gauge(0, 1, "b", fakerun.Point{At: us, Value: 2})
	r.Gauge(0, 1, "c", fakerun.Point{At: 5 * us, Value: 3})
	r.Gauge(0, 2, "b", fakerun.Point{At: 5 * us, Value: 4})
	v := analyze(t, r)
	for gauge, want := range map[string][]GaugePoint{
		"a": {{us, 1}}, "b": {{us, 2}, {5 * us, 4}}, "c": {{5 * us, 3}},
	} {
		s, ok := v.Gauge(0, gauge)
		if !ok || len(s.Points) != len(want) || s.Points[len(want)-1] != want[len(want)-1] {
			t.Errorf("%s: got %+v, want %v", gauge, s, want)
		}
	}
}

// What a link lost by the timeline is accounted for, and marked in the series.
func TestTimelineInResults(t *testing.T) {
	r := fakerun.New(t, fakerun.OneWay)
	r.X.Timeline = fault.Timeline{
		{At: 2 * ms, For: ms, Link: "h1-1", Do: fault.Down}, {At: 4 * ms, Host: "h1-2", Do: fault.Kill},
	}
	before := analyze(t, r).Conservation
	r.Facts.Ports[0].Lost, r.Facts.Ports[1].Extra, r.Facts.Hosts[0].Sent = 30, 5, r.Facts.Hosts[0].Sent+25
	v := analyze(t, r)
	if c := v.Conservation; c.Faults != 30 || c.Sent != before.Sent+30 || c.Missing != before.Missing {
		t.Errorf("got %+v, want 30 more sent and lost than in %+v", c, before)
	}
	var rows []SeriesRow
	must(t, v.faultRows(func(r SeriesRow) error { rows = append(rows, r); return nil }))
	want := []SeriesRow{
		{v.Name, v.Protocol, "h1-1", "fault/down", int64(2 * ms), 1},
		{v.Name, v.Protocol, "h1-1", "fault/down", int64(3 * ms), 0},
		{v.Name, v.Protocol, "h1-2", "fault/kill", int64(4 * ms), 1},
	}
	if len(rows) != 3 || rows[0] != want[0] || rows[1] != want[1] || rows[2] != want[2] {
		t.Errorf("marks %+v, want %+v", rows, want)
	}
	s := Summarize([]*Variant{v, analyze(t, fakerun.New(t, fakerun.OneWay))})
	if got := strings.Join(s.Variants[0].Faults, ", "); got != "h1-1: down from 2ms to 3ms, h1-2: kill at 4ms" ||
		len(s.Variants[1].Faults) > 0 {
		t.Errorf("faults %q and %q, want the first variant's alone", got, s.Variants[1].Faults)
	}
}
