package results

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/sirdnode/record"
	"sirdbed/topo/units"
)

func TestParquetRoundTrip(t *testing.T) {
	r := fakerun.New(t, fakerun.OneWay)
	n := 3*batch + 17 // several batches
	for i := range n {
		done := 2*ms + units.Time(i+500)
		if i%7 == 0 {
			done = 0
		}
		r.Message(0, 1, i, fakerun.Tag(t, 0, i), 1000, 2*ms+units.Time(i), done)
	}
	r.Gauge(3, 0, "credit", fakerun.At(ms, 1.5), fakerun.At(2*ms, -3))
	r.Queues = []record.Record{{Kind: record.Queue, Peer: 5, ID: 2, N: 3000, At: 20 * us},
		{Kind: record.Tick, At: 20 * us}}
	v := analyze(t, r)
	s := Summarize([]*Variant{v})
	dir := t.TempDir()
	list := []*Variant{v}
	must(t, Write(fakerun.Open(t, dir).Dir, NewManifest(json.RawMessage(`{"name":"test"}`), list, s), s, list))

	messages, err := parquet.ReadFile[MessageRow](filepath.Join(dir, MessagesFile))
	must(t, err)
	if len(messages) != n {
		t.Fatalf("%d messages, want %d", len(messages), n)
	}
	for i, m := range messages {
		late := i%7 == 0
		if m.ID != int64(i) || m.Stream != "rpc" || m.Src != "h1-1" || m.Dst != "h1-2" || m.Size != 1000 ||
			m.Offered != int64(2*ms)+int64(i) ||
			(m.Delivered == nil) != late || (m.Latency == nil) != late || (!late && *m.Latency != 500) ||
			m.Variant != "v" || m.Protocol != "sird" || m.Failed != nil {
			t.Fatalf("message %d: %+v", i, m)
		}
	}
	queues, err := parquet.ReadFile[QueueRow](filepath.Join(dir, QueuesFile))
	must(t, err)
	if want := (QueueRow{"v", "sird", v.Fabric.Ports[5].Name, int64(20 * us), 3000, 2}); len(queues) != 1 ||
		queues[0] != want {
		t.Errorf("queues %+v, want %+v", queues, want)
	}
	series, err := parquet.ReadFile[SeriesRow](filepath.Join(dir, SeriesFile))
	must(t, err)
	if want := (SeriesRow{"v", "sird", "h2-2", "credit", int64(2 * ms), -3}); len(series) != 2 || series[1] != want {
		t.Errorf("series %+v, want %+v last", series, want)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(left) > 0 {
		t.Errorf("parts are left: %v", left)
	}

	text, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	must(t, err)
	var m Manifest
	must(t, json.Unmarshal(text, &m))
	if m.Seed != 7 || m.Engine != "real" || m.Verdict != s.Verdict || m.Digest != s.Digest || len(m.Variants) != 1 ||
		m.Go == "" || m.Created.IsZero() {
		t.Errorf("manifest %+v", m)
	}
	again, err := ReadSummary(dir)
	must(t, err)
	if again.Digest != s.Digest || again.Variants[0].LatencyNS["rpc"].P99 != 500 {
		t.Errorf("summary %+v", again)
	}
}

func TestWriteTellsWhereItFailed(t *testing.T) {
	v := analyze(t, fakerun.New(t, fakerun.OneWay))
	s := Summarize([]*Variant{v})
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, SummaryFile, "x"), 0o755))
	err := Write(fakerun.Open(t, dir).Dir, NewManifest(nil, nil, s), s, nil)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, SummaryFile)) {
		t.Errorf("writing over a directory: %v", err)
	}
}

func TestHostileSummaries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary.json")
	for text, want := range map[string]string{"": "unexpected end", "[]": "cannot unmarshal",
		"{}": "no result of sirdbed", `{"variants":[{"goodput_gbps":"x"}]}`: "cannot unmarshal"} {
		must(t, os.WriteFile(path, []byte(text), 0o644))
		if _, err := ReadSummary(path); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "summary.json") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := ReadSummary("/nowhere"); err == nil {
		t.Error("nothing is a summary")
	}
}
