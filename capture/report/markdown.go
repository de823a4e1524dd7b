package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Markdown writes the outcome as a page of Markdown, such as the summary of a
// step in GitHub Actions: the verdict and its reasons, a table of the variants,
// and the bounds.
func (o Outcome) Markdown(w io.Writer) error {
	m := &markdown{w: w}
	m.line("## %s on %s: %s", cell(o.Scenario), cell(orUnknown(o.Engine)), o.headline())
	m.line("\nDilation %d, seed %d, %.1f s for %.3g ms of nominal time.",
		o.Dilation, o.Seed, o.WallSeconds, 1000*o.NominalSeconds)
	if texts := changes(o.Summary); len(texts) > 0 {
		m.line("\n%s", cell(strings.Join(texts, " ")))
	}
	for _, f := range o.Failed {
		m.item("%s failed: %s", f.Variant, f.Reason)
	}
	for _, r := range o.Reasons {
		if !slices.ContainsFunc(o.Failed, func(f Failure) bool { return f.String() == r }) {
			m.item("%s", r)
		}
	}
	for _, s := range o.Skipped {
		m.item("not run: %s: %s", s.Variant, s.Reason)
	}
	if len(o.Variants) > 0 {
		m.table(overview(o.Summary))
	}
	if len(o.Bounds) > 0 {
		m.table(bounds(o.Summary))
	}
	return m.err
}

// MarkdownTables writes tables as Markdown.
func MarkdownTables(w io.Writer, tables []Table) error {
	m := &markdown{w: w}
	for _, t := range tables {
		m.table(t)
	}
	return m.err
}

// headline is the verdict, and how many bounds are not met.
func (o Outcome) headline() string {
	unmet := 0
	for _, b := range o.Bounds {
		if !b.OK {
			unmet++
		}
	}
	text := string(o.Verdict)
	if len(o.Failed) > 0 {
		text += fmt.Sprintf(", %d variants failed", len(o.Failed))
	}
	switch {
	case len(o.Bounds) == 0:
		return text
	case unmet == 0:
		return text + ", all bounds met"
	}
	return text + fmt.Sprintf(", %d of %d bounds not met", unmet, len(o.Bounds))
}

// markdown writes until the first error, which it keeps.
type markdown struct {
	w     io.Writer
	err   error
	items bool // the last line is an item of a list
}

func (m *markdown) line(format string, args ...any) {
	if m.err == nil {
		_, m.err = fmt.Fprintf(m.w, format+"\n", args...)
	}
	m.items = false
}

// item writes an item of a list, and what sets the list apart before the first.
func (m *markdown) item(format string, args ...any) {
	if !m.items {
		m.line("")
	}
	m.line("- %s", cell(fmt.Sprintf(format, args...)))
	m.items = true
}

func (m *markdown) table(t Table) {
	m.line("\n### %s\n", cell(t.Title))
	note := cell(strings.TrimSpace(t.Note))
	if len(t.Rows) == 0 {
		if note != "" {
			m.line("%s", note)
		}
		return
	}
	row := func(cells []string) {
		escaped := make([]string, len(cells))
		for i, c := range cells {
			escaped[i] = cell(c)
		}
		m.line("| %s |", strings.Join(escaped, " | "))
	}
	row(t.Head())
	rule := make([]string, len(t.Header))
	for i := range rule {
		rule[i] = "---:"
		if i < t.Left {
			rule[i] = ":---"
		}
	}
	m.line("| %s |", strings.Join(rule, " | "))
	for _, r := range t.Rows {
		row(r)
	}
	if note != "" {
		m.line("\n%s", note)
	}
}

// cellEscapes escapes what Markdown and the HTML in it would take for markup, and
// breaks of lines, which no table has.
var cellEscapes = strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "&", "&amp;", "*", "\\*", "_", "\\_", "`",
	"\\`", "[", "\\[", "\r", "", "\n", " ")

// cell is a text without markup, and without what a terminal would take for commands.
func cell(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, cellEscapes.Replace(text))
}

// MarkdownText is a text as Markdown that shows it, whatever is in it.
func MarkdownText(text string) string { return cell(Printable(text)) }
