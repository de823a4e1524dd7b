package results

import (
	"math"
	"strings"
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/sirdnode/record"
)

// A record that no run can have logged ends its log, and nothing is computed from it.
func TestWhatCannotHaveBeenLoggedIsDamage(t *testing.T) {
	for name, bad := range map[string]record.Record{
		"a size":          {Kind: record.Offered, Peer: 1, At: ms, N: 1 << 62},
		"a negative size": {Kind: record.Delivered, Peer: 1, At: ms, N: -1},
		"a time":          {Kind: record.Gauge, At: math.MaxInt64 - 5},
		"an early time":   {Kind: record.Acked, Peer: 1, At: math.MinInt64 + 5, N: 8},
		"an empty queue":  {Kind: record.Queue, At: ms, N: -8},
		"a sampling time": {Kind: record.Tick, At: ms, N: math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			r := fakerun.New(t, fakerun.OneWay)
			r.Message(0, 1, 0, 0, 1000, 2*ms, 2*ms+9*us)
			kind := HostLogCut
			if bad.Kind == record.Queue || bad.Kind == record.Tick {
				kind, r.Queues = QueueLogCut, append(r.Queues, bad)
			} else {
				r.Hosts[0] = append(r.Hosts[0], bad)
			}
			v := analyze(t, r)
			if texts := v.ProblemsOf(kind); len(texts) != 1 || !strings.Contains(texts[0], "log is damaged") {
				t.Errorf("got %q, want it named", texts)
			}
			if len(v.Messages) != 1 || v.Latencies.Latency.Count != 1 {
				t.Errorf("got %d messages, %d latencies, want the one before it", len(v.Messages),
					v.Latencies.Latency.Count)
			}
		})
	}
}
