package report

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"slices"

	"sirdbed/capture/results"
	"sirdbed/emu/tree"
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
	results.Pass:     "the machine kept up, and the figures are the network's.",
	results.Degraded: "the machine shows in the figures; read them with the reasons below.",
	results.Invalid:  "the figures cannot be trusted.",
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

// Write leaves report.html and plots/ in a result's directory. The page needs
// no other file.
func Write(dir *tree.Dir, m *results.Manifest, s *results.Summary, variants []*results.Variant) error {
	figures, err := Figures(variants)
	if err != nil {
		return err
	}
	plots, err := dir.Make(PlotsDir)
	if errors.Is(err, fs.ErrExist) {
		plots, err = dir.Sub(PlotsDir)
	}
	if err != nil {
		return err
	}
	defer plots.Close()
	var errs []error
	for _, f := range figures {
		errs = append(errs, plots.WriteText(f.Name+".svg", f.SVG))
	}
	text, err := Page(m, s, figures)
	if err == nil {
		err = dir.WriteText(PageFile, text)
	}
	return errors.Join(append(errs, err)...)
}

// Page returns report.html.
func Page(m *results.Manifest, s *results.Summary, figures []Figure) ([]byte, error) {
	d := pageData{Summary: s, Meaning: meanings[s.Verdict], Changes: changes(s), Facts: facts(m, s)}
	switch {
	case s.Verdict != results.Pass:
	case s.Engine == "model":
		d.Meaning = "every packet and every byte is accounted for. The model has no machine to be slowed by."
	case faultsOf(s) != "":
		d.Meaning = "the machine kept up, and the figures are those of the network with the faults below."
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
