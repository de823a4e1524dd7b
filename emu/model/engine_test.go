package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/internal/rundir"
	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/record"
	"sirdbed/sirdnode/sird"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// small is an experiment of a few thousand messages on two racks.
func small() *emu.Experiment {
	return &emu.Experiment{
		Scenario: "small", Variant: "sird", Protocol: "sird", Seed: 1,
		Topology: topo.Spec{
			Leaves: 2, HostsPerLeaf: 3, Spines: 2, HostRate: 100 * units.Gbps, CoreRate: 400 * units.Gbps,
			HostDelay: 1250, CoreDelay: 500,
		},
		Streams: []traffic.Stream{{Name: "rpc", Pattern: traffic.PatternPoisson, Load: 0.5, Sizes: "wka"}},
		Warmup:  200 * units.Microsecond, Duration: units.Millisecond, Drain: 10 * units.Millisecond,
		QueueEvery: 10 * units.Microsecond, GaugeEvery: 50 * units.Microsecond,
	}
}

func readLog(t *testing.T, path string) (list []record.Record) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for r, err := range record.Read(file) {
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		list = append(list, r)
	}
	return list
}

func TestEngineLeavesWhatTheContractSays(t *testing.T) {
	x, dir := small(), t.TempDir()
	facts, err := Engine{}.Run(context.Background(), x, rundir.Open(t, dir), emu.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	var back emu.Experiment
	var written emu.Facts
	for name, v := range map[string]any{"experiment.json": &back, "facts.json": &written} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || json.Unmarshal(b, v) != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if back.Protocol != "sird" || written.Engine != "model" || written.Reached != facts.Reached ||
		len(written.Hosts) != 6 || len(written.Ports) != 20 {
		t.Errorf("got %+v\nand %+v,\nwant SIRD on the model until %v with 6 hosts and 20 ports", back, written,
			facts.Reached)
	}
	if facts.Failure != "" || facts.Dilation != 1 || facts.Reached <= x.Warmup+x.Duration || facts.Reached >= x.End() {
		t.Errorf("got %+v, want no failure, dilation 1, and an end within the drain", facts)
	}
	var sent, received, offered, delivered, acked int64
	for _, h := range facts.Hosts {
		sent, received = sent+h.Sent, received+h.Received
		if !h.Finished {
			t.Errorf("%s is not finished", h.Name)
		}
		for _, r := range readLog(t, filepath.Join(dir, "hosts", h.Name+".rec")) {
			switch r.Kind {
			case record.Offered:
				offered++
			case record.Delivered:
				delivered++
			case record.Acked:
				acked++
			}
		}
	}
	if sent == 0 || sent != received || offered < 1000 || delivered != offered || acked != offered {
		t.Errorf("%d packets sent, %d received; %d messages, %d delivered, %d acked: want all of more than 1000",
			sent, received, offered, delivered, acked)
	}
	ticks, highest := 0, map[uint16]int64{}
	for _, r := range readLog(t, filepath.Join(dir, "queues.rec")) {
		switch r.Kind {
		case record.Tick:
			if r.At != units.Time(ticks)*x.QueueEvery {
				t.Fatalf("tick %d at %v, want %v", ticks, r.At, units.Time(ticks)*x.QueueEvery)
			}
			ticks++
		case record.Queue:
			highest[r.Peer] = max(highest[r.Peer], r.N)
		}
	}
	if ticks < 120 || len(highest) == 0 {
		t.Errorf("%d ticks, queues at %d ports; want 120 or more, and some", ticks, len(highest))
	}
	for p, bytes := range highest {
		if bytes > facts.Ports[p].MaxQueue {
			t.Errorf("%s: sampled %d, the maximum is %d", facts.Ports[p].Name, bytes, facts.Ports[p].MaxQueue)
		}
	}
}

// Two runs of an experiment leave the same logs to the last byte.
func TestEngineRepeatsItself(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for _, dir := range []string{a, b} {
		x := small()
		x.Drain = 500 * units.Microsecond
		x.Faults = fault.Config{Drop: 0.001, Reorder: 0.01, Corrupt: 0.001}
		if _, err := (Engine{}).Run(context.Background(), x, rundir.Open(t, dir), emu.Hooks{}); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := filepath.Glob(a + "/hosts/*.rec")
	for _, name := range append(files, a+"/queues.rec") {
		rel, _ := filepath.Rel(a, name)
		first, err1 := os.ReadFile(name)
		second, err2 := os.ReadFile(filepath.Join(b, rel))
		if err1 != nil || err2 != nil || !bytes.Equal(first, second) {
			t.Errorf("%s differs (%v, %v)", rel, err1, err2)
		}
	}
	if len(files) != 6 {
		t.Errorf("%d host logs, want 6", len(files))
	}
}

// A capture that keeps what it is given.
type kept struct {
	t      *testing.T
	fabric *topo.Fabric
	seen   []captured
	closed bool
	fail   error
}

type captured struct {
	port *topo.Port
	at   units.Time
	out  bool
	wire int
	id   [8]byte // source address, IP identification, destination port
	ce   bool
}

func (k *kept) Packet(port *topo.Port, at units.Time, out bool, length int, frame []byte) error {
	var f wire.Frame
	if err := f.Decode(frame, 1, sird.Protocol.Wire.HeaderLen); err != nil || length != len(frame) {
		k.t.Fatalf("%d of %d bytes: %v", len(frame), length, err)
	}
	from := port
	if !out {
		from = &k.fabric.Ports[port.Reverse]
	}
	if f.SrcMAC != from.MAC || f.Port != sird.Port {
		k.t.Fatalf("%s out %v: from %x to port %d", port.Name, out, f.SrcMAC, f.Port)
	}
	id := [8]byte(slices.Concat(f.SrcAddr[:], []byte{byte(f.ID >> 8), byte(f.ID), byte(f.Port >> 8), byte(f.Port)}))
	k.seen = append(k.seen, captured{port, at, out, length, id, f.ECN == wire.CE})
	return k.fail
}

func (k *kept) Close() error { k.closed = true; return nil }

// At a switch every packet is seen coming in and then going out, through the
// ports it really took, at the times that the links allow.
func TestCaptureSeesEveryPacketTwice(t *testing.T) {
	x := small()
	x.Capture = []string{"leaf1", "leaf2>h2-1", "leaf1>h1-1"}
	f, _ := topo.New(x.Topology)
	files := map[string]*kept{}
	facts, err := Engine{}.Run(context.Background(), x, rundir.Open(t, t.TempDir()),
		emu.Hooks{OpenCapture: func(file *os.File, n *topo.Node) (emu.Capture, error) {
			k := &kept{t: t, fabric: f}
			files[filepath.Base(file.Name())] = k
			return k, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 || !files["leaf1.pcapng"].closed || !files["leaf2.pcapng"].closed {
		t.Fatalf("captures %v", files)
	}
	came := map[[8]byte]captured{}
	var last units.Time
	left := map[topo.PortID]int64{}
	for _, c := range files["leaf1.pcapng"].seen {
		if c.at < last {
			t.Fatalf("a frame at %v follows one at %v, want them in order", c.at, last)
		}
		last = c.at
		if !c.out {
			came[c.id] = c
			continue
		}
		in, ok := came[c.id]
		if !ok || in.at > c.at || in.port == c.port {
			t.Fatalf("%+v left, %+v came: want that before, by another port", c, in)
		}
		delete(came, c.id)
		left[c.port.ID]++
	}
	if len(came) != 0 {
		t.Errorf("%d packets never left, want none", len(came))
	}
	for _, p := range f.Nodes[f.LeafOf(0)].Ports {
		if left[p] != facts.Ports[p].Packets {
			t.Errorf("%s: captured %d, sent %d", f.Ports[p].Name, left[p], facts.Ports[p].Packets)
		}
	}
	down := f.Downlink(3)
	for _, c := range files["leaf2.pcapng"].seen {
		if c.port.ID != down.ID {
			t.Fatalf("captured at %s, want %s only", c.port.Name, down.Name)
		}
	}
	want := facts.Ports[down.ID].Packets + facts.Ports[down.Reverse].Packets
	if int64(len(files["leaf2.pcapng"].seen)) != want {
		t.Errorf("%d frames at %s, want %d", len(files["leaf2.pcapng"].seen), down.Name, want)
	}
}

func TestEngineFailures(t *testing.T) {
	broken := errors.New("disk full")
	f, _ := topo.New(small().Topology)
	for name, c := range map[string]struct {
		change func(*emu.Experiment)
		hooks  emu.Hooks
		want   error
	}{
		"protocol": {change: func(x *emu.Experiment) { x.Protocol = "udp" }},
		"params":   {change: func(x *emu.Experiment) { x.Params = json.RawMessage(`{"nonsense":1}`) }},
		"topology": {change: func(x *emu.Experiment) { x.Topology.Leaves = 0 }},
		"streams":  {change: func(x *emu.Experiment) { x.Streams[0].Load = -1 }},
		"capture": {
			change: func(x *emu.Experiment) { x.Capture = []string{"leaf7"} },
			hooks:  emu.Hooks{OpenCapture: func(*os.File, *topo.Node) (emu.Capture, error) { return nil, nil }},
		},
		"broken capture": {
			change: func(x *emu.Experiment) { x.Capture = []string{"h1-1"} }, want: broken,
			hooks: emu.Hooks{OpenCapture: func(*os.File, *topo.Node) (emu.Capture, error) {
				return &kept{t: t, fabric: f, fail: broken}, nil
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			x, dir := small(), t.TempDir()
			c.change(x)
			facts, err := Engine{}.Run(context.Background(), x, rundir.Open(t, dir), c.hooks)
			if err == nil || c.want != nil && !errors.Is(err, c.want) || facts == nil || facts.Failure == "" {
				t.Errorf("got %v and %+v, want an error (%v), and facts that have it", err, facts, c.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "facts.json")); err != nil {
				t.Errorf("no facts: %v", err)
			}
		})
	}
}

// A run that is stopped ends soon, says so, and leaves logs that can be read.
func TestEngineStops(t *testing.T) {
	x, dir := small(), t.TempDir()
	x.Duration, x.Drain = units.Second, units.Second
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var reached units.Time
	var stopped time.Time
	facts, err := Engine{}.Run(ctx, x, rundir.Open(t, dir), emu.Hooks{Progress: func(at units.Time) {
		if reached = at; at > 0 {
			stopped = time.Now()
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || facts.Failure == "" || facts.Reached < reached ||
		facts.Reached >= x.Duration {
		t.Errorf("got %v and %+v, want it canceled from %v on, before its end", err, facts, reached)
	}
	if late := time.Since(stopped); late > time.Second {
		t.Errorf("stopped %v after it was told to, want at once", late)
	}
	readLog(t, filepath.Join(dir, "hosts", "h1-1.rec"))
	readLog(t, filepath.Join(dir, "queues.rec"))
}

// A check that ends a run ends it at the same nominal time every time, whatever the
// machine does meanwhile, and sees what the logs have by then.
func TestEngineEndsByACheckAtTheSameTime(t *testing.T) {
	ended := errors.New("enough")
	var reached [2]units.Time
	for i := range reached {
		x := small()
		x.Duration, x.Drain = units.Second, units.Second
		var bytes countedBytes
		facts, err := Engine{}.Run(t.Context(), x, rundir.Open(t, t.TempDir()), emu.Hooks{
			Progress:  func(units.Time) { time.Sleep(time.Duration(i) * 50 * time.Millisecond) },
			CreateLog: func(string) (io.WriteCloser, error) { return &bytes, nil },
			Check: func() error {
				if bytes > 1_000_000 {
					return ended
				}
				return nil
			},
		})
		if !errors.Is(err, ended) || facts.Failure == "" {
			t.Fatalf("got %v and %+v, want it ended by the check", err, facts)
		}
		reached[i] = facts.Reached
	}
	if reached[0] != reached[1] || reached[0] == 0 {
		t.Errorf("ended at %v and %v", reached[0], reached[1])
	}
}

// countedBytes are those written to all logs.
type countedBytes int

func (n *countedBytes) Write(b []byte) (int, error) {
	*n += countedBytes(len(b))
	return len(b), nil
}

func (n *countedBytes) Close() error { return nil }
