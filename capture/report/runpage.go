package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"sirdbed/capture/results"
	"sirdbed/emu/tree"
)

// The files that Write leaves in a result's directory.
const (
	PageFile = "report.html"
	PlotsDir = "plots"
)

// About is what the page of a run says beside its results.
type About struct {
	Command string // that makes the same run again, "" if there is none
	// Params are all parameters of a variant's protocol, as JSON; nil, or an error, for
	// those that its experiment changes alone.
	Params func(v *results.ManifestVariant) (json.RawMessage, error)
}

// Write leaves report.html and plots/ in a result's directory. The page needs
// no other file.
func Write(
	dir *tree.Dir, m *results.Manifest, s *results.Summary, variants []*results.Variant, about About,
) error {
	plots, err := dir.Make(PlotsDir)
	if errors.Is(err, fs.ErrExist) {
		plots, err = dir.Sub(PlotsDir)
	}
	if err != nil {
		return err
	}
	defer plots.Close()
	figures := Figures(variants)
	var errs []error
	for _, f := range figures {
		svg, err := f.SVG()
		if err == nil {
			err = plots.WriteText(f.Name+".svg", svg)
		}
		errs = append(errs, err)
	}
	text, err := RunPage(m, s, figures, about).HTML()
	if err == nil {
		err = dir.WriteText(PageFile, text)
	}
	return errors.Join(append(errs, err)...)
}

var meanings = map[results.Level]string{
	results.Pass:     "the machine kept up, and the figures are the network's.",
	results.Degraded: "the machine shows in the figures; read them with the reasons below.",
	results.Invalid:  "the figures cannot be trusted.",
}

// RunPage is the page of a run.
func RunPage(m *results.Manifest, s *results.Summary, figures []Figure, about About) *Page {
	p := &Page{
		Title: s.Scenario, Lead: lead(m, s), Command: about.Command,
		Verdict: s.Verdict, Meaning: meanings[s.Verdict], Reasons: s.Reasons, Notes: changes(s), Figures: figures,
		Footer: "sirdbed. Times are nominal. All figures are in summary.json, all messages, queues and gauges in the " +
			"parquet files beside it, the plots as pictures in plots.",
	}
	switch {
	case s.Verdict != results.Pass:
	case s.Engine == "model":
		p.Meaning = "every packet and every byte is accounted for. The model has no machine to be slowed by."
	case faultsOf(s) != "":
		p.Meaning = "the machine kept up, and the figures are those of the network with the faults below."
	}
	for _, skipped := range s.Skipped {
		p.Notes = append(p.Notes, fmt.Sprintf("Not run: %s. %s", skipped.Variant, skipped.Reason))
	}
	p.Sections = append(boundsSection(s), tableSections(s)...)
	if len(m.Variants) > 0 {
		p.Network = &m.Variants[0].Experiment.Topology
		p.Sections = append(p.Sections, Section{Title: "Parameters", Tables: []Table{parameters(m, about.Params)}})
	}
	p.Sections = append(p.Sections, fidelity(s),
		Section{Title: "Run", Tables: []Table{{Left: 2, Sentences: true, Header: []string{"", ""}, Rows: facts(m, s)}}})
	return p
}

// lead is what was run, and what for.
func lead(m *results.Manifest, s *results.Summary) (paragraphs []string) {
	var source struct{ Description, Paper string }
	if json.Unmarshal(m.Source, &source) == nil && source.Description != "" {
		if source.Paper != "" {
			source.Description += " (" + source.Paper + ")"
		}
		paragraphs = append(paragraphs, source.Description)
	}
	what := fmt.Sprintf("%s on the %s engine, seed %d",
		counted(len(s.Variants), "variant", "variants"), s.Engine, s.Seed)
	if !m.Created.IsZero() {
		what += ", " + m.Created.Format("2 January 2006, 15:04 MST")
	}
	return append(paragraphs, what)
}

func boundsSection(s *results.Summary) []Section {
	if len(s.Bounds) == 0 {
		return nil
	}
	met, t := 0, bounds(s)
	t.Title = ""
	for _, b := range s.Bounds {
		if b.OK {
			met++
		}
	}
	return []Section{{Title: "Bounds", Short: fmt.Sprintf("%d of %d met", met, len(s.Bounds)),
		Open: met < len(s.Bounds), Tables: []Table{t}}}
}

// tableSections are the tables but that of bounds, a section each.
func tableSections(s *results.Summary) (list []Section) {
	for _, t := range Tables(s) {
		if t.Title != bounds(s).Title {
			section := Section{Title: t.Title}
			t.Title = ""
			section.Tables = []Table{t}
			list = append(list, section)
		}
	}
	return list
}

// fidelity is the checks behind the verdict, and those of stability.
func fidelity(s *results.Summary) Section {
	section := Section{Title: "Fidelity", Short: string(s.Verdict)}
	for _, v := range s.Variants {
		t := Table{Title: fmt.Sprintf("%s: %s", v.Variant, v.Verdict), Left: 4, Sentences: true,
			Header: []string{"check", "level", "found", "passes if"}}
		for _, c := range v.Checks {
			t.Rows = append(t.Rows, []string{c.Name, string(c.Level), c.Found, c.Limit})
		}
		notes := slices.Clone(v.Notes)
		if v.Stability != nil {
			notes = append(notes, "Stable? "+stabilityOf(v.Stability))
		}
		t.Note = strings.Join(notes, "\n")
		section.Tables = append(section.Tables, t)
	}
	return section
}

func stabilityOf(s *results.Stability) string {
	switch {
	case len(s.Reasons) > 0:
		return "No: " + strings.Join(s.Reasons, ". ") + "."
	case s.Known:
		return fmt.Sprintf("At the end of the window %.4g bytes were undelivered; links that carry just what is "+
			"offered, less a margin, would have left %.4g.", s.Undelivered, s.Reference)
	}
	return "Not known: " + s.Why + "."
}
