package results

import (
	"fmt"
	"maps"
	"math"

	"sirdbed/capture/stats"
	"sirdbed/emu"
	"sirdbed/emu/tree"
	"sirdbed/sirdnode/fault"
	"sirdbed/topo/units"
)

// A Summary is summary.json: the outcome of a run, for programs to read. Fields are
// only ever added.
type Summary struct {
	Format   int            `json:"format"`
	Scenario string         `json:"scenario"`
	Engine   string         `json:"engine"`
	Dilation units.Dilation `json:"dilation"` // the largest of the variants'
	Seed     uint64         `json:"seed"`
	Verdict  Level          `json:"verdict"` // the worst of the variants'
	Reasons  []string       `json:"reasons"`
	Digest   string         `json:"digest"`
	Bounds   []Bound        `json:"bounds"`

	// What makes the run another than the scenario's file, or than a network that
	// loses nothing but by its queues: the faults injected, nil where it is not
	// known (results before there was the field), and what --set changed, which the
	// caller of Summarize fills in. Where variants differ they have their own.
	Faults *fault.Config `json:"faults,omitempty"`
	Set    []string      `json:"set,omitempty"`

	Variants []VariantSummary `json:"variants"`
	Skipped  []Skipped        `json:"skipped,omitempty"` // the caller of Summarize fills them in

	WallSeconds    float64 `json:"wall_seconds"`    // of all variants together
	NominalSeconds float64 `json:"nominal_seconds"` // of all variants together
}

// A Bound is a claim about a run and whether it holds. The caller of Summarize
// fills it in.
type Bound struct {
	Name  string   `json:"name"`
	Value float64  `json:"value"`
	Min   *float64 `json:"min,omitempty"`
	Max   *float64 `json:"max,omitempty"`
	Unit  string   `json:"unit,omitempty"`
	OK    bool     `json:"ok"`
	Error string   `json:"error,omitempty"` // why there is no value; then OK is false
}

// A Skipped is a variant that was not run, since the engine cannot run its
// protocol.
type Skipped struct {
	Variant  string `json:"variant"`
	Protocol string `json:"protocol"`
	Reason   string `json:"reason"`
}

// VariantSummary is the part of a Summary about one protocol and variant.
type VariantSummary struct {
	Variant  string         `json:"variant"`
	Protocol string         `json:"protocol"`
	Engine   string         `json:"engine"`
	Dilation units.Dilation `json:"dilation"`
	Seed     uint64         `json:"seed"`
	Verdict  Level          `json:"verdict"`
	Reasons  []string       `json:"reasons"`
	Checks   []Check        `json:"checks"`
	Notes    []string       `json:"notes,omitempty"`  // of those who wrote the logs
	Faults   []string       `json:"faults,omitempty"` // its own, in words: beside the Summary's, or its timeline
	Digest   string         `json:"digest"`

	// Payload received for the first time in the window, over the window: per
	// host of the fabric, and by receiver.
	GoodputGbps     float64            `json:"goodput_gbps"`
	GoodputBy       map[string]float64 `json:"goodput_by_host_gbps"`
	GoodputSource   string             `json:"goodput_source"`
	OfferedGbps     float64            `json:"offered_gbps"` // that an unloaded fabric would have received, per host
	Unstable        bool               `json:"unstable"`
	UnstableReasons []string           `json:"unstable_reasons,omitempty"`
	Stability       *Stability         `json:"stability,omitempty"` // Poisson scenarios only

	// Slowdown by definition ("paper", "exact", "acked" for some protocols) and size group ("all", "A",
	// ...), incast streams left out. GroupBorders are A's, B's and C's upper
	// borders.
	Slowdown     map[string]Slowdowns     `json:"slowdown"`
	GroupBorders []int64                  `json:"group_borders_bytes"`
	LatencyNS    map[string]stats.Summary `json:"latency_ns"` // by stream, and "all" but incast
	Streams      []Stream                 `json:"streams"`

	QueueBytes  QueueSummary            `json:"queue_bytes"`
	Gauges      map[string]GaugeSummary `json:"gauges"` // by name, over the window and all hosts
	Counters    map[string]int64        `json:"counters"`
	Conserved   *Conservation           `json:"conservation,omitempty"`
	Apps        []emu.AppFacts          `json:"apps,omitempty"`
	Agreements  []Agreement             `json:"sampled_against_captured,omitempty"`
	ExactQueues map[string]ExactQueue   `json:"captured_queue_bytes,omitempty"` // by port

	WindowFrom     int64   `json:"window_from_ns"`
	WindowTo       int64   `json:"window_to_ns"`
	WallSeconds    float64 `json:"wall_seconds"`
	NominalSeconds float64 `json:"nominal_seconds"`
}

// GaugeSummary summarizes a gauge over the window and all hosts that have it.
type GaugeSummary struct {
	Mean  float64 `json:"mean"` // over time and hosts
	Max   float64 `json:"max"`
	Hosts int     `json:"hosts"`
}

// ExactQueue is a port's queue over the window as its switch's capture shows
// it, in bytes.
type ExactQueue struct {
	Max     int64   `json:"max"`
	Mean    float64 `json:"mean"`
	Packets int     `json:"packets"` // that passed during the whole capture
	Lost    int     `json:"lost"`
}

// Summarize joins the results of a scenario's variants. Bounds are the
// caller's to fill in.
func Summarize(variants []*Variant) *Summary {
	s := &Summary{
		Format: Format, Verdict: Pass, Reasons: []string{}, Bounds: []Bound{}, Variants: []VariantSummary{},
		Digest: Digest(variants),
	}
	for i, v := range variants {
		vs := v.summary()
		if vs.Verdict == "" { // nobody has judged the run, so it is not to be trusted
			vs.Verdict, vs.Reasons = Invalid, []string{"verdict: the run was not judged"}
		}
		if i == 0 {
			s.Faults = sharedFaults(variants)
			s.Scenario, s.Seed, s.Engine = v.Experiment.Scenario, v.Experiment.Seed, vs.Engine
		}
		if s.Engine == "" {
			s.Engine = vs.Engine
		}
		s.Dilation = max(s.Dilation, vs.Dilation)
		vs.Faults = v.ownFaults(s.Faults)
		s.Verdict = s.Verdict.Worse(vs.Verdict)
		for _, r := range vs.Reasons {
			if len(variants) > 1 {
				r = vs.Variant + ": " + r
			}
			s.Reasons = append(s.Reasons, r)
		}
		s.WallSeconds += vs.WallSeconds
		s.NominalSeconds += vs.NominalSeconds
		s.Variants = append(s.Variants, vs)
	}
	return s
}

// sharedFaults are the faults that all variants have all the time, none where they differ.
func sharedFaults(variants []*Variant) *fault.Config {
	for _, v := range variants {
		if v.Experiment.Faults != variants[0].Experiment.Faults {
			return &fault.Config{}
		}
	}
	return &variants[0].Experiment.Faults
}

// ownFaults are in words a variant's faults beside those that all variants have.
func (v *Variant) ownFaults(shared *fault.Config) (texts []string) {
	if v.Experiment.Faults != *shared {
		texts = append(texts, v.Experiment.Faults.String())
	}
	for i := range v.Experiment.Timeline {
		texts = append(texts, v.Experiment.Timeline[i].String())
	}
	return texts
}

func (v *Variant) summary() VariantSummary {
	s := VariantSummary{
		Variant: v.Name, Protocol: v.Protocol, Seed: v.Experiment.Seed,
		Verdict: v.Verdict.Level, Reasons: v.Verdict.Reasons, Checks: v.Verdict.Checks, Digest: v.Digest,
		GoodputGbps: v.Goodput.Gbps, GoodputBy: v.Goodput.Hosts, GoodputSource: v.Goodput.Source,
		OfferedGbps: v.OfferedGbps,
		Unstable:    v.Stability.Unstable, UnstableReasons: v.Stability.Reasons,
		Slowdown: v.Latencies.Slowdown, LatencyNS: map[string]stats.Summary{AllSizes: v.Latencies.Latency},
		Streams:    v.Latencies.Streams,
		QueueBytes: v.Queue, Gauges: map[string]GaugeSummary{}, Counters: v.Counters, Agreements: v.Agreements,
		WindowFrom: int64(v.From), WindowTo: int64(v.To), NominalSeconds: v.End.Seconds(),
	}
	if v.Stability.Applies {
		s.Stability = &v.Stability
	}
	if v.Facts != nil {
		s.Engine, s.Dilation, s.WallSeconds = string(v.Facts.Engine), v.Facts.Dilation, v.Facts.Wall
		s.Conserved, s.Apps = &v.Conservation, v.Facts.Apps
	}
	for _, b := range v.Borders {
		s.GroupBorders = append(s.GroupBorders, int64(b))
	}
	for _, st := range v.Latencies.Streams {
		s.LatencyNS[st.Name] = st.LatencyNS
	}
	for _, p := range v.Problems {
		if p.Kind == Note {
			s.Notes = append(s.Notes, p.Text)
		}
	}
	for _, name := range v.GaugeNames() {
		s.Gauges[name] = v.gaugeResult(name)
	}
	maps.Copy(s.Gauges, v.gaugeMeans)
	for _, r := range v.Captures {
		if s.ExactQueues == nil {
			s.ExactQueues = map[string]ExactQueue{}
		}
		for _, q := range r.Ports {
			most, mean := q.Between(v.From, v.To)
			s.ExactQueues[q.Port.Name] = ExactQueue{most.Bytes, mean, q.Packets, q.Lost}
		}
	}
	return s
}

func (v *Variant) gaugeResult(name string) GaugeSummary {
	var r GaugeSummary
	n := 0
	for i := range v.Gauges {
		if v.Gauges[i].Gauge != name {
			continue
		}
		r.Hosts++
		for _, p := range v.Gauges[i].Between(v.From, v.To) {
			if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
				continue // JSON cannot hold it
			}
			r.Mean += p.Value
			if n++; n == 1 || p.Value > r.Max {
				r.Max = p.Value
			}
		}
	}
	if n > 0 {
		r.Mean /= float64(n)
	}
	return r
}

// SummaryFile is the name of a result's summary in its directory.
const SummaryFile = "summary.json"

// ReadSummary reads a summary.json, or the one in a result's directory.
func ReadSummary(path string) (*Summary, error) {
	var text []byte
	dir, err := tree.Open(path)
	if err == nil {
		defer dir.Close()
		path = dir.At(SummaryFile)
		text, err = dir.Read(SummaryFile)
	} else {
		text, err = tree.ReadFile(path)
	}
	var s Summary
	if err == nil {
		err = decode(path, text, &s)
	}
	if err != nil {
		return nil, err
	}
	if len(s.Variants) == 0 {
		return nil, fmt.Errorf("%s: has no variants: it is no result of sirdbed", path)
	}
	return &s, nil
}
