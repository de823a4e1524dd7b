package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"sirdbed/capture/results"
	"sirdbed/topo"
)

// A Page is a report for a browser: one file that needs no other, no network and no
// server. Its reader hides and shows variants and protocols in all figures at once, zooms,
// reads values, changes axes; the page's address keeps what is shown. All texts may come
// from anywhere: they are shown as they are, and never as HTML.
type Page struct {
	Title   string
	Lead    []string // paragraphs under the title
	Command string   // that makes the results again, "" if there is none

	Verdict results.Level // "" if nothing was judged
	Meaning string        // of the verdict
	Reasons []string      // of the verdict
	Notes   []string      // what a reader has to know first

	Figures []Figure // in order
	Network *topo.Spec
	// Sections are folded under their titles, below the figures.
	Sections []Section
	Footer   string
}

// A Section is a part of a page beside its figures.
type Section struct {
	Title  string
	Short  string // what is to be known of it while it is folded: "12 of 12 met"
	Open   bool
	Tables []Table
	Notes  []string
}

//go:embed web
var web embed.FS

func webFile(name string) string {
	text, err := web.ReadFile("web/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// The page's styles and scripts. The scripts share one scope, in this order.
var (
	pageStyle  = webFile("uplot/uPlot.min.css") + webFile("page.css")
	plotScript = "/*\n" + webFile("uplot/LICENSE") + "*/\n" + webFile("uplot/uPlot.iife.min.js")
	pageScript = webFile("state.js") + webFile("shapes.js") + webFile("hover.js") + webFile("figure.js") +
		webFile("legend.js") + webFile("tables.js") + webFile("main.js")
	pageRules = "default-src 'none'; script-src " + sourceOf(plotScript) + " " + sourceOf(pageScript) +
		"; style-src " + sourceOf(pageStyle) + "; img-src data:; base-uri 'none'; form-action 'none'"
)

// sourceOf is a text as a source in a Content-Security-Policy.
func sourceOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

var pageTemplate = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"mark": mark, "long": long, "style": func() template.CSS { return template.CSS(pageStyle) },
	"plotScript": func() template.JS { return template.JS(plotScript) },
	"pageScript": func() template.JS { return template.JS(pageScript) },
	"rules":      func() string { return pageRules },
	"network":    drawNetwork, "filled": Table.filled,
	"networkWords": func(spec *topo.Spec) string { return fabric(*spec) + "." },
}).ParseFS(web, "web/page.html"))

// mark is the class of a cell that people look for.
func mark(cell string) string {
	switch cell {
	case "ok", "FAIL", "PASS", "DEGRADED", "INVALID", "NO":
		return cell
	case "holds", "agrees":
		return "ok"
	case "does not hold", "differs", "unstable here", "unstable in print":
		return "differs"
	}
	return ""
}

// long is the class of a cell that takes some lines.
func long(cell string) string {
	if len(cell) > 40 {
		return " long"
	}
	return ""
}

// pageData is what a page's script draws.
type pageData struct {
	Figures []Figure    `json:"figures"`
	Colors  []string    `json:"colors"` // by look, and again from the first
	Dashes  [][]float64 `json:"dashes"` // by half the look, in points
}

// HTML returns the page. It fails if two figures have one name.
func (p *Page) HTML() ([]byte, error) {
	data := pageData{}
	for i := range p.Figures {
		data.Figures = append(data.Figures, *p.Figures[i].positive())
	}
	names := map[string]bool{}
	for _, f := range p.Figures {
		if names[f.Name] || unsafe.MatchString(f.Name) || f.Name == "" {
			return nil, fmt.Errorf("page %q: figure %q: want a name of its own, of letters, digits and ._-",
				p.Title, f.Name)
		}
		names[f.Name] = true
	}
	if data.Figures == nil {
		data.Figures = []Figure{}
	}
	for _, c := range palette {
		data.Colors = append(data.Colors, fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B))
	}
	for _, pattern := range dashes {
		lengths := []float64{}
		for _, l := range pattern {
			lengths = append(lengths, l.Points())
		}
		data.Dashes = append(data.Dashes, lengths)
	}
	text, err := json.Marshal(data) // with < and & escaped, so that nothing can end the element
	if err != nil {
		return nil, fmt.Errorf("page %q: %w", p.Title, err)
	}
	var out bytes.Buffer
	err = pageTemplate.Execute(&out, struct {
		*Page
		Sets []FigureSet
		Data template.JS
	}{p, Sets(p.Figures), template.JS(text)})
	if err != nil {
		return nil, fmt.Errorf("page %q: %w", p.Title, err)
	}
	return out.Bytes(), nil
}

// Headed reports whether a column has a heading.
func (t Table) Headed() bool { return strings.Join(t.Header, "") != "" }

// filled returns the table without columns in which nothing stands.
func (t Table) filled() Table {
	head := t.Head()
	var keep []int
	left := 0
	for i := range head {
		for _, row := range t.Rows {
			if cell := strings.TrimSpace(row[i]); cell != "" && cell != "-" {
				keep = append(keep, i)
				if i < t.Left {
					left++
				}
				break
			}
		}
	}
	pick := func(cells []string) (out []string) {
		for _, i := range keep {
			out = append(out, cells[i])
		}
		return out
	}
	c := Table{Title: t.Title, Note: t.Note, Header: pick(head), Left: left, Sentences: t.Sentences}
	for _, row := range t.Rows {
		c.Rows = append(c.Rows, pick(row))
	}
	return c
}
