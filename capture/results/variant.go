// Package results turns the raw logs of a run into results: message latencies
// and slowdowns, goodput, queues and gauges, whether the run was stable, and what
// its captures show.
//
// A result's directory holds one directory for each variant, as package emu
// leaves it. Analyze reads one of them and computes a Variant; Summarize joins
// several into a Summary, and Write leaves the files of a result. Package verdict
// says how far a Variant can be trusted, package metric looks single figures up.
//
// Times are nominal, sizes are bytes. If a part of a log is lost, the results are
// those of the rest, and a Problem says so.
package results

import (
	"slices"

	"sirdbed/capture"
	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// A Variant is the results of one variant's run. It does not change once it has its
// Verdict, and may then be read by several goroutines.
type Variant struct {
	Name       string
	Protocol   string
	Experiment emu.Experiment
	Facts      *emu.Facts // nil if the run was killed before it wrote them
	Fabric     *topo.Fabric
	Borders    []units.Bytes

	From, To units.Time // the window that was measured
	End      units.Time // when the run ended

	// Messages by source, destination and ID: all of them, but for a Folded variant only
	// the fastest of each kind. MessageCount counts all.
	Messages     []Message
	MessageCount int
	Queues       QueueLog
	Gauges       []Series         // by host, then in the order of registration
	Counters     map[string]int64 // by name, summed over hosts

	Latencies    Latencies
	Goodput      Goodput
	OfferedGbps  float64 // payload that an unloaded fabric would have received in the window, per host
	Queue        QueueSummary
	Stability    Stability
	Captures     []*capture.Reconstruction
	Agreements   []Agreement
	Conservation Conservation
	Problems     []Problem
	Files        *Files  // by an Audit, which is the caller's to make; nil without checksums
	Verdict      Verdict // by package verdict; empty until the caller has had it judged
	Digest       string

	// Folded says that the variant is of a Fold, which has these beside the rest.
	Folded bool
	Course *Course
	Curves Curves

	gaugeMeans map[string]GaugeSummary // of a Folded variant
	logs       *rawLogs
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
		name := v.StreamOf(m)
		if m.Class != Measured || name == "" {
			continue
		}
		n := m.Tag.Stream()
		incast := n < len(v.Experiment.Streams) && v.Experiment.Streams[n].Pattern == traffic.PatternIncast
		if name == stream || stream == "" && !incast {
			samples = append(samples, float64(m.Latency()))
		}
	}
	return samples
}
