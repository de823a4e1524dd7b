package report

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sirdbed/capture/results"
)

// The files that Write leaves in a result's directory.
const (
	PageFile = "report.html"
	PlotsDir = "plots"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"mark": mark}).Parse(pageText))

// mark is the class of a cell that people look for.
func mark(cell string) string {
	if slices.Contains([]string{"ok", "FAIL", "PASS", "DEGRADED", "INVALID"}, cell) {
		return " " + cell
	}
	return ""
}

var meanings = map[results.Level]string{
	results.Pass:     "The machine kept up: the figures are the network's.",
	results.Degraded: "The machine shows in the figures: read them with the reasons below.",
	results.Invalid:  "The figures cannot be trusted.",
}

type pageData struct {
	Summary *results.Summary
	Meaning string
	Changes []string // by faults and --set
	Started string
	Bounds  *Table
	Tables  []Table
	Figures []inlineFigure
	Facts   []fact
}

type inlineFigure struct {
	Caption string
	SVG     template.HTML
}

type fact struct{ Name, Value string }

// Write leaves report.html and plots/ in a result's directory. The page needs
// no other file.
func Write(dir string, m *results.Manifest, s *results.Summary, variants []*results.Variant) error {
	figures, err := Figures(variants)
	if err != nil {
		return err
	}
	plots := filepath.Join(dir, PlotsDir)
	if err := os.MkdirAll(plots, 0o755); err != nil {
		return err
	}
	var errs []error
	for _, f := range figures {
		errs = append(errs, write(filepath.Join(plots, f.Name+".svg"), f.SVG))
	}
	text, err := Page(m, s, figures)
	if err == nil {
		err = write(filepath.Join(dir, PageFile), text)
	}
	return errors.Join(append(errs, err)...)
}

// write leaves a file whole or not at all.
func write(path string, text []byte) error {
	err := os.WriteFile(path, text, 0o644)
	if err != nil {
		os.Remove(path)
	}
	return err
}

// Page returns report.html.
func Page(m *results.Manifest, s *results.Summary, figures []Figure) ([]byte, error) {
	d := pageData{Summary: s, Meaning: meanings[s.Verdict], Changes: changes(s), Facts: facts(m, s)}
	switch {
	case s.Verdict != results.Pass:
	case s.Engine == "model":
		d.Meaning = "Every packet and every byte is accounted for. The model has no machine to be slowed by."
	case faultsOf(s) != "":
		d.Meaning = "The machine kept up: the figures are those of the network with the faults below."
	}
	if !m.Created.IsZero() {
		d.Started = m.Created.Format("2 January 2006, 15:04 MST")
	}
	for _, t := range Tables(s) {
		if t.Title == bounds(s).Title {
			d.Bounds = &t
			continue
		}
		d.Tables = append(d.Tables, t)
	}
	for _, f := range figures {
		// An SVG inside HTML has no XML declaration.
		at := max(0, bytes.Index(f.SVG, []byte("<svg")))
		d.Figures = append(d.Figures, inlineFigure{f.Caption, template.HTML(f.SVG[at:])})
	}
	var out bytes.Buffer
	if err := page.Execute(&out, d); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return out.Bytes(), nil
}

func facts(m *results.Manifest, s *results.Summary) []fact {
	list := []fact{
		{"engine", m.Engine}, {"dilation", fmt.Sprint(m.Dilation)}, {"seed", fmt.Sprint(m.Seed)},
		{"kernel", m.Kernel}, {"CPUs", fmt.Sprint(m.CPUs)}, {"sirdbed", m.Sirdbed}, {"Go", m.Go}, {"digest", m.Digest},
	}
	list = append(list, fact{"features", strings.Join(m.Features.List(), ", ")})
	if len(m.Variants) > 0 {
		x := m.Variants[0].Experiment
		t := x.Topology
		fabric := fmt.Sprintf("%d leaves of %d hosts, %d spines; hosts %v, %v", t.Leaves, t.HostsPerLeaf, t.Spines,
			t.HostRate, t.HostDelay)
		if t.Spines > 0 {
			fabric += fmt.Sprintf("; core %v, %v", t.CoreRate, t.CoreDelay)
		}
		mtu := t.MTU
		if mtu == 0 {
			mtu = 1500
		}
		list = append(list, fact{"fabric", fabric + fmt.Sprintf("; MTU %v", mtu)},
			fact{"time", fmt.Sprintf("warm-up %v, measured %v, drain up to %v", x.Warmup, x.Duration, x.Drain)})
	}
	list = append(list, fact{"faults", faultsOf(s)}, fact{"changed by --set", strings.Join(s.Set, ", ")})
	for _, v := range m.Variants {
		text := v.Protocol
		if len(v.Experiment.Params) > 0 {
			text += " " + string(v.Experiment.Params)
		}
		list = append(list, fact{"variant " + v.Variant, text})
	}
	return slices.DeleteFunc(list, func(f fact) bool { return f.Value == "" || f.Value == "0" })
}
