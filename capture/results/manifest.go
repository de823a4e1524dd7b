package results

import (
	"encoding/json"
	"errors"
	"runtime"
	"runtime/debug"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/tree"
	"sirdbed/topo/units"
)

// The files of a result, in its directory. Beside them report.html and
// plots/ are package report's.
const (
	ManifestFile = "manifest.json"
	MessagesFile = "messages.parquet"
	QueuesFile   = "queues.parquet"
	SeriesFile   = "series.parquet"
	VariantsDir  = "variants"
)

// A Manifest is manifest.json: what ran, on what, and with what.
type Manifest struct {
	Format   int             `json:"format"`
	Scenario string          `json:"scenario"`
	Source   json.RawMessage `json:"scenario_as_run,omitempty"` // the scenario file with its defaults and changes
	Created  time.Time       `json:"created"`
	Sirdbed  string          `json:"sirdbed"` // version of the binary
	Go       string          `json:"go"`
	Engine   string          `json:"engine"`
	Dilation units.Dilation  `json:"dilation"`
	Seed     uint64          `json:"seed"`
	Kernel   string          `json:"kernel,omitempty"`
	CPUs     int             `json:"cpus,omitempty"`
	// Features names what the engine used, such as the ECN marker.
	Features emu.Features `json:"features,omitzero"`
	Verdict  Level        `json:"verdict"`
	Digest   string       `json:"digest"`

	Variants []ManifestVariant `json:"variants"`
}

// ManifestVariant is one variant of a Manifest.
type ManifestVariant struct {
	Variant    string         `json:"variant"`
	Protocol   string         `json:"protocol"`
	Experiment emu.Experiment `json:"experiment"`
	Facts      *emu.Facts     `json:"facts,omitempty"`
	Verdict    Verdict        `json:"verdict"`
}

// NewManifest makes the manifest of what ran. source is the scenario as run, in
// JSON; it may be nil.
func NewManifest(source json.RawMessage, variants []*Variant, s *Summary) *Manifest {
	m := &Manifest{
		Format: Format, Scenario: s.Scenario, Source: source, Engine: s.Engine, Dilation: s.Dilation, Seed: s.Seed,
		Sirdbed: version(), Go: runtime.Version(), Verdict: s.Verdict, Digest: s.Digest, Variants: []ManifestVariant{},
	}
	for _, v := range variants {
		m.Variants = append(m.Variants, ManifestVariant{v.Name, v.Protocol, v.Experiment, v.Facts, v.Verdict})
		if v.Facts != nil && m.Created.IsZero() {
			m.Created, m.Kernel, m.CPUs, m.Features = v.Facts.Started, v.Facts.Kernel, v.Facts.CPUs, v.Facts.Features
		}
	}
	return m
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v += " " + s.Value
		}
		if s.Key == "vcs.modified" && s.Value == "true" {
			v += " (modified)"
		}
	}
	return v
}

// Write leaves a result's data files in dir: manifest, summary and the three
// tables of messages, queues and gauges. Each appears once it is complete.
func Write(dir *tree.Dir, m *Manifest, s *Summary, variants []*Variant) error {
	return errors.Join(
		dir.WriteJSON(ManifestFile, m),
		writeParquet(dir, MessagesFile, ofAll(variants, (*Variant).messageRows)),
		writeParquet(dir, QueuesFile, ofAll(variants, (*Variant).queueRows)),
		writeParquet(dir, SeriesFile, ofAll(variants, (*Variant).seriesRows)),
		dir.WriteJSON(SummaryFile, s),
	)
}
