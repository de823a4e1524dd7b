package capture

import (
	"encoding/json"
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

// A fakeRun is a run's raw logs, to be changed and then written.
type fakeRun struct {
	x      emu.Experiment
	f      *topo.Fabric
	facts  *emu.Facts // nil: missing
	hosts  [][]record.Record
	queues []record.Record
	cut    map[string]bool // logs without an End
}

// newRun has two leaves of two hosts and one spine, a window from 1 to 9 ms, and nothing
// happening.
func newRun(t *testing.T, streams ...traffic.Stream) *fakeRun {
	t.Helper()
	r := &fakeRun{cut: map[string]bool{}, x: emu.Experiment{
		Scenario: "test", Variant: "v", Protocol: "sird", Streams: streams, Seed: 7,
		Topology: topo.Spec{Leaves: 2, HostsPerLeaf: 2, Spines: 1, HostRate: 100 * units.Gbps, CoreRate: 400 * units.Gbps, HostDelay: 1250, CoreDelay: 500},
		Warmup:   ms, Duration: 8 * ms, Drain: ms, QueueEvery: 10 * us, GaugeEvery: 100 * us,
	}}
	var err error
	if r.f, err = topo.New(r.x.Topology); err != nil {
		t.Fatal(err)
	}
	r.hosts = make([][]record.Record, len(r.f.Hosts))
	r.facts = &emu.Facts{
		Engine: "real", Dilation: 1000, Reached: 10 * ms, Started: time.Unix(1000, 0), Wall: 10,
		Lateness: emu.Lateness{Count: 1000, Median: 10, P99: 50, P999: 200, Max: 900},
		Features: emu.Features{Burst: 3076},
	}
	for h := range r.f.Hosts {
		r.facts.Hosts = append(r.facts.Hosts, emu.HostFacts{
			Name: r.f.HostName(topo.HostID(h)), Sent: 1000, Received: 1000, Finished: true,
			Lateness: emu.Lateness{Count: 1000, P99: 50}, Generator: emu.Lateness{Count: 10, P99: 60},
		})
	}
	for _, p := range r.f.Ports {
		r.facts.Ports = append(r.facts.Ports, emu.PortFacts{Name: p.Name, Packets: 1000, WireBytes: 1538000})
	}
	return r
}

func (r *fakeRun) log(h topo.HostID, kind record.Kind, peer topo.HostID, id int, tag traffic.Tag, at units.Time, size units.Bytes) {
	r.hosts[h] = append(r.hosts[h], record.Record{Kind: kind, Peer: uint16(peer), ID: uint32(id), Tag: uint32(tag), At: at, N: int64(size)})
}

// message logs a message that was delivered and acknowledged; done 0: it was
// not.
func (r *fakeRun) message(src, dst topo.HostID, id int, tag traffic.Tag, size units.Bytes, at, done units.Time) {
	r.log(src, record.Offered, dst, id, tag, at, size)
	if done != 0 {
		r.log(dst, record.Delivered, src, id, tag, done, size)
		r.log(src, record.Acked, dst, id, tag, done+us, size)
	}
}

func (r *fakeRun) counter(h topo.HostID, name string, n int64) {
	r.hosts[h] = append(r.hosts[h], record.Record{Kind: record.Counter, N: n, Text: name})
}

func (r *fakeRun) gauge(h topo.HostID, number int, name string, points ...GaugePoint) {
	w := record.Record{Kind: record.GaugeName, Peer: uint16(number), Text: name}
	r.hosts[h] = append(r.hosts[h], w)
	for _, p := range points {
		r.hosts[h] = append(r.hosts[h], record.Record{Kind: record.Gauge, Peer: uint16(number), At: p.At, N: floatBits(p.Value)})
	}
}

// write leaves the run in a directory.
func (r *fakeRun) write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "hosts"), 0o755))
	save := func(name string, v any) {
		data, err := json.Marshal(v)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	save("experiment.json", r.x)
	if r.facts != nil {
		save("facts.json", r.facts)
	}
	put := func(path string, records []record.Record, cut bool) {
		file, err := os.Create(filepath.Join(dir, path))
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
	for h, records := range r.hosts {
		name := r.f.HostName(topo.HostID(h))
		put("hosts/"+name+".rec", records, r.cut[name])
	}
	put("queues.rec", r.queues, r.cut["queues"])
	return dir
}

func (r *fakeRun) analyze(t *testing.T) *Variant {
	t.Helper()
	v, err := Analyze(r.write(t), Options{Framing: testFraming})
	must(t, err)
	return v
}

func testFraming(string, units.Bytes) (topo.Framing, error) {
	return topo.Framing{MSS: 1460, Overhead: 40}, nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func tag(t *testing.T, stream, index int) traffic.Tag {
	t.Helper()
	tg, err := traffic.MakeTag(stream, index)
	must(t, err)
	return tg
}

func mkdir(path string) error { return os.MkdirAll(path, 0o755) }
