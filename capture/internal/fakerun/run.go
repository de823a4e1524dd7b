// Package fakerun makes up the raw logs of runs, for tests of what reads them.
package fakerun

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sirdbed/emu"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

const (
	us = units.Microsecond
	ms = units.Millisecond
)

// OneWay is a stream of messages without replies.
var OneWay = traffic.Stream{Name: "rpc", Pattern: traffic.PatternFixed, Size: 1000}

// A Run is a run's raw logs, to be changed and then written.
type Run struct {
	X      emu.Experiment
	F      *topo.Fabric
	Facts  *emu.Facts // nil: missing
	Hosts  [][]record.Record
	Queues []record.Record
	Cut    map[string]bool // logs without an End, by host, or "queues"
}

// A Point is one sample of a gauge.
type Point struct {
	At    units.Time
	Value float64
}

// At is the Point of a value at a time.
func At(at units.Time, value float64) Point { return Point{at, value} }

// New returns a run in which nothing happens: two leaves of two hosts and one
// spine, a window from 1 to 9 ms, and an end at 10 ms.
func New(t *testing.T, streams ...traffic.Stream) *Run {
	t.Helper()
	r := &Run{Cut: map[string]bool{}, X: emu.Experiment{
		Scenario: "test", Variant: "v", Protocol: "sird", Streams: streams, Seed: 7,
		Topology: topo.Spec{
			Leaves: 2, HostsPerLeaf: 2, Spines: 1,
			HostRate: 100 * units.Gbps, CoreRate: 400 * units.Gbps, HostDelay: 1250, CoreDelay: 500,
		},
		Warmup: ms, Duration: 8 * ms, Drain: ms, QueueEvery: 10 * us, GaugeEvery: 100 * us,
	}}
	var err error
	r.F, err = topo.New(r.X.Topology)
	must(t, err)
	r.Hosts = make([][]record.Record, len(r.F.Hosts))
	r.Facts = &emu.Facts{
		Engine: "real", Dilation: 1000, Reached: 10 * ms, Started: time.Unix(1000, 0), Wall: 10,
		Lateness: emu.Lateness{Count: 1000, Median: 10, P99: 50, P999: 200, Max: 900},
		Features: emu.Features{Burst: 3076},
	}
	for h := range r.F.Hosts {
		r.Facts.Hosts = append(r.Facts.Hosts, emu.HostFacts{
			Name: r.F.HostName(topo.HostID(h)), Sent: 1000, Received: 1000, Finished: true,
			Lateness: emu.Lateness{Count: 1000, P99: 50}, Generator: emu.Lateness{Count: 1000, P99: 60},
			Stalls: &emu.Stalls{},
		})
	}
	for _, p := range r.F.Ports {
		r.Facts.Ports = append(r.Facts.Ports, emu.PortFacts{Name: p.Name, Packets: 1000, WireBytes: 1538000})
	}
	return r
}

// Log adds a record about a message to a host's log.
func (r *Run) Log(
	h topo.HostID, kind record.Kind, peer topo.HostID, id int, tag traffic.Tag, at units.Time, size units.Bytes,
) {
	r.Hosts[h] = append(r.Hosts[h], record.Record{
		Kind: kind, Peer: uint16(peer), ID: uint32(id), Tag: uint32(tag), At: at, N: int64(size),
	})
}

// Message logs a message that was offered at a time, and delivered at done and
// acknowledged a microsecond later unless done is 0.
func (r *Run) Message(src, dst topo.HostID, id int, tag traffic.Tag, size units.Bytes, at, done units.Time) {
	r.Log(src, record.Offered, dst, id, tag, at, size)
	if done != 0 {
		r.Log(dst, record.Delivered, src, id, tag, done, size)
		r.Log(src, record.Acked, dst, id, tag, done+us, size)
	}
}

// Counter logs a host's counter.
func (r *Run) Counter(h topo.HostID, name string, n int64) {
	r.Hosts[h] = append(r.Hosts[h], record.Record{Kind: record.Counter, N: n, Text: name})
}

// Gauge logs the samples of a host's gauge, number by number.
func (r *Run) Gauge(h topo.HostID, number int, name string, points ...Point) {
	r.Hosts[h] = append(r.Hosts[h], record.Record{Kind: record.GaugeName, Peer: uint16(number), Text: name})
	for _, p := range points {
		r.Hosts[h] = append(r.Hosts[h], record.Record{
			Kind: record.Gauge, Peer: uint16(number), At: p.At, N: int64(math.Float64bits(p.Value)),
		})
	}
}

// Write leaves the run in a directory, as an engine would.
func (r *Run) Write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "hosts"), 0o755))
	r.save(t, filepath.Join(dir, "experiment.json"), r.X)
	if r.Facts != nil {
		r.save(t, filepath.Join(dir, "facts.json"), r.Facts)
	}
	for h, records := range r.Hosts {
		name := r.F.HostName(topo.HostID(h))
		r.put(t, filepath.Join(dir, "hosts", name+".rec"), records, r.Cut[name])
	}
	r.put(t, filepath.Join(dir, "queues.rec"), r.Queues, r.Cut["queues"])
	return dir
}

// Open opens a directory until the test ends.
func Open(t *testing.T, path string) emu.RunDir {
	t.Helper()
	dir, err := emu.OpenRunDir(path)
	must(t, err)
	t.Cleanup(func() { dir.Close() })
	return dir
}

func (r *Run) save(t *testing.T, path string, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	must(t, err)
	must(t, os.WriteFile(path, data, 0o644))
}

func (r *Run) put(t *testing.T, path string, records []record.Record, cut bool) {
	t.Helper()
	file, err := os.Create(path)
	must(t, err)
	w := record.NewWriter(file)
	for _, rec := range records {
		must(t, w.Put(rec))
	}
	if !cut {
		must(t, w.Put(record.Record{Kind: record.End, At: 10 * ms}))
	}
	must(t, w.Flush())
	must(t, file.Close())
}

// Framing is that of a made-up protocol: 40 bytes of headers around as many of
// payload as fit.
func Framing(string, units.Bytes) (topo.Framing, error) {
	return topo.Framing{MSS: 1460, Overhead: 40}, nil
}

// Tag is the tag of a stream's message.
func Tag(t *testing.T, stream, index int) traffic.Tag {
	t.Helper()
	tag, err := traffic.MakeTag(stream, index)
	must(t, err)
	return tag
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
