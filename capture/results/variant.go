// Package results turns the raw logs of a run into results: message latencies
// and slowdowns, goodput, queues and gauges, whether the run was stable, and what
// its captures show.
//
// A result's directory holds one directory for each variant, as package emu
// leaves it. Analyze reads one of them and computes a Variant; Summarize joins
// several into a Summary, and Write leaves the files of a result. Package verdict
// says how far a Variant can be trusted, package metric looks single figures up.
//
// Times are nominal, sizes are bytes. What was lost of a log costs what it held,
// and is reported as a Problem.
package results

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sirdbed/baselines/all"
	"sirdbed/capture"
	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// Options change what Analyze computes. The zero value has the defaults.
type Options struct {
	// Borders are the upper borders of the size groups A, B, ...; nil for
	// DefaultBorders.
	Borders []units.Bytes
	// Framing tells how a protocol cuts messages into packets, for the exact
	// unloaded latency; nil asks package sirdnode.
	Framing func(protocol string, mtu units.Bytes) (topo.Framing, error)
	// SampleTolerance is how far beyond the time during which a queue was read
	// its depth may have been seen, when samples are compared with a capture.
	SampleTolerance units.Time
}

// A Variant is the results of one variant's run. It does not change once made.
type Variant struct {
	Name       string
	Protocol   string
	Experiment emu.Experiment
	Facts      *emu.Facts // nil if the run was killed before it wrote them
	Fabric     *topo.Fabric
	Borders    []units.Bytes

	From, To units.Time // the window that was measured
	End      units.Time // when the run ended

	Messages []Message // by source, destination and ID
	Queues   QueueLog
	Gauges   []Series         // by host, then in the order of registration
	Counters map[string]int64 // by name, summed over hosts

	Latencies    Latencies
	Goodput      Goodput
	Queue        QueueSummary
	Stability    Stability
	Captures     []*capture.Reconstruction
	Agreements   []Agreement
	Conservation Conservation
	Problems     []Problem
	Verdict      Verdict // left to package verdict
	Digest       string

	logs *rawLogs
}

// Analyze computes the results of the variant whose raw logs are in dir. It
// fails only if the experiment itself can't be read: logs that are cut or
// missing are named in Problems and judged in Verdict.
func Analyze(dir string, opt Options) (*Variant, error) {
	l, err := readLogs(dir)
	if err != nil {
		return nil, err
	}
	v := &Variant{
		Name: l.x.Variant, Protocol: l.x.Protocol, Experiment: l.x, Facts: l.facts, Fabric: l.fabric, Borders: opt.Borders,
		Queues: l.queues, Counters: map[string]int64{}, logs: l,
	}
	if v.Borders == nil {
		v.Borders = DefaultBorders
	}
	v.From, v.To = l.x.Window()
	v.End = l.end()
	if v.End < v.To {
		v.To = max(v.From, v.End)
	}
	for h := range l.hosts {
		for _, g := range l.hosts[h].gauges {
			if g.Gauge != "" {
				v.Gauges = append(v.Gauges, g)
			}
		}
		for name, n := range l.hosts[h].counters {
			v.Counters[name] += n
		}
	}
	v.Messages = l.join()
	l.complete(v.Messages, l.framing(opt), v.End)
	v.Latencies = l.latencies(v.Messages, v.Borders, v.To-v.From)
	v.Goodput = l.goodput(v.Messages, v.From, v.To)
	v.Queue = l.queues.Result(l.fabric, v.From, v.To)
	v.Stability = l.stability(v.Messages, v.From, v.To)
	v.readCaptures(emu.RunDir(dir).Captures(), opt)
	if v.Facts != nil {
		v.Conservation = v.conservation()
	}
	v.Problems = l.problems
	v.Digest = v.digest()
	return v, nil
}

// end is when the run ended: as the engine says, or else the latest record.
func (l *rawLogs) end() units.Time {
	if l.facts != nil && l.facts.Reached > 0 {
		return l.facts.Reached
	}
	var end units.Time
	for h := range l.hosts {
		end = max(end, l.hosts[h].end)
	}
	if n := len(l.queues.Ticks); n > 0 {
		end = max(end, l.queues.Ticks[n-1])
	}
	return min(end, l.x.End())
}

func (l *rawLogs) framing(opt Options) *topo.Framing {
	find := opt.Framing
	if find == nil {
		find = func(protocol string, mtu units.Bytes) (topo.Framing, error) {
			p, err := all.Find(protocol)
			if err != nil {
				return topo.Framing{}, err
			}
			return p.Framing(mtu), nil
		}
	}
	fr, err := find(l.x.Protocol, l.fabric.Spec.MTU)
	if err == nil && fr.MSS <= 0 {
		err = fmt.Errorf("an MTU of %v leaves no room for payload", l.fabric.Spec.MTU)
	}
	if err != nil {
		l.problem(Note, "no slowdown by the exact definition: %v", err)
		return nil
	}
	return &fr
}

// readCaptures rebuilds the queues of every captured switch.
func (v *Variant) readCaptures(dir string, opt Options) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return // nothing was captured
	}
	for _, file := range files {
		name, ok := strings.CutSuffix(file.Name(), ".pcapng")
		if !ok {
			continue
		}
		node, ok := v.Fabric.Node(name)
		if !ok {
			v.logs.problem(CaptureCut, "%s is not named as a node of the fabric", file.Name())
			continue
		}
		if node.Kind == topo.Host {
			continue // read by people
		}
		r, err := capture.Reconstruct(v.Fabric, node, capture.Frames(filepath.Join(dir, file.Name()), v.Fabric))
		if err != nil {
			v.logs.problem(CaptureCut, "%v", err)
		}
		if r == nil || r.Frames == 0 {
			continue
		}
		v.Captures = append(v.Captures, r)
		for _, q := range r.Ports {
			// A capture of single ports has departures without arrivals.
			if q.Packets == 0 || q.Local > q.Packets {
				continue
			}
			if a := v.Queues.Compare(q, max(v.From, r.From), min(v.To, r.To), opt.SampleTolerance); a.Samples > 0 {
				v.Agreements = append(v.Agreements, a)
			}
		}
	}
}

// ProblemsOf returns what was wrong with the logs, of one kind.
func (v *Variant) ProblemsOf(kind ProblemKind) (texts []string) {
	for _, p := range v.Problems {
		if p.Kind == kind {
			texts = append(texts, p.Text)
		}
	}
	return texts
}

// Gauge returns a host's series of a gauge.
func (v *Variant) Gauge(host topo.HostID, gauge string) (*Series, bool) {
	for i := range v.Gauges {
		if v.Gauges[i].Host == host && v.Gauges[i].Gauge == gauge {
			return &v.Gauges[i], true
		}
	}
	return nil, false
}

// GaugeNames lists the gauges of all hosts.
func (v *Variant) GaugeNames() (names []string) {
	for i := range v.Gauges {
		names = append(names, v.Gauges[i].Gauge)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Counter returns what a host counted, 0 where it has no such counter.
func (v *Variant) Counter(h topo.HostID, name string) int64 { return v.logs.hosts[h].counters[name] }

// Stream returns the results of a stream.
func (v *Variant) Stream(name string) (*Stream, bool) {
	for i := range v.Latencies.Streams {
		if v.Latencies.Streams[i].Name == name {
			return &v.Latencies.Streams[i], true
		}
	}
	return nil, false
}

// LatencySamples are the latencies of a stream's measured messages in ns, or of
// those of all streams but incast ones if the name is empty.
func (v *Variant) LatencySamples(stream string) (samples []float64) {
	for i := range v.Messages {
		m := &v.Messages[i]
		if m.Class != Measured || m.Tag.Stream() >= len(v.Experiment.Streams) {
			continue
		}
		s := &v.Experiment.Streams[m.Tag.Stream()]
		if s.Name == stream || (stream == "" && s.Pattern != traffic.PatternIncast) {
			samples = append(samples, float64(m.Latency()))
		}
	}
	return samples
}
