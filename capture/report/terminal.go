package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"sirdbed/capture/results"
)

// Print writes what a run came to, for a terminal of 100 columns.
func Print(w io.Writer, s *results.Summary) error {
	p := &printer{w: w}
	dilation := fmt.Sprintf("dilation %d", s.Dilation)
	if s.Dilation == 0 { // it failed before that was chosen
		dilation = "no dilation"
	}
	p.line("%s on %s, %s, seed %d", s.Scenario, orUnknown(s.Engine), dilation, s.Seed)
	for _, line := range wrap(strings.Join(changes(s), " "), lineWidth) {
		p.line("%s", line)
	}
	for _, t := range Tables(s) {
		p.table(t)
	}
	for _, skipped := range s.Skipped {
		p.line("\nNot run: %s", skipped.Variant)
		for _, line := range wrap(skipped.Reason, lineWidth-2) {
			p.line("  %s", line)
		}
	}
	p.line("")
	p.line("Verdict: %s", s.Verdict)
	for _, r := range s.Reasons {
		p.line("  %s", r)
	}
	if len(s.Reasons) > 0 {
		p.line("  (sirdbed explain CHECK: what a check asks, and what to do)")
	}
	return p.err
}

// PrintTables writes tables for a terminal.
func PrintTables(w io.Writer, tables []Table) error {
	p := &printer{w: w}
	for _, t := range tables {
		p.table(t)
	}
	return p.err
}

func orUnknown(s string) string {
	if s == "" {
		return "an unknown engine"
	}
	return s
}

type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *printer) table(t Table) {
	p.line("\n%s", t.Title)
	if p.err != nil {
		return
	}
	align := make(tw.Alignment, len(t.Header))
	for i := range align {
		align[i] = tw.AlignRight
		if i < t.Left {
			align[i] = tw.AlignLeft
		}
	}
	var text strings.Builder
	out := tablewriter.NewTable(&text,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbols(tw.StyleLight),
			Settings: tw.Settings{
				Separators: tw.SeparatorsNone,
				Lines: tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: tw.On,
					ShowFooterLine: tw.Off},
			},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: align}),
	)
	out.Header(t.Header)
	if p.err = out.Bulk(t.Rows); p.err == nil {
		p.err = out.Render()
	}
	for line := range strings.Lines(text.String()) {
		p.line("%s", strings.TrimRight(line, " \n"))
	}
	for _, line := range wrap(t.Note, lineWidth-1) {
		p.line(" %s", line)
	}
}

// lineWidth is what notes are wrapped at.
const lineWidth = 100

func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
