package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// A table is a small table on a terminal: columns under a rule, the first
// column on the left, the others on the right.
type table struct {
	w    io.Writer
	text bytes.Buffer
	t    *tablewriter.Table
}

func newTable(w io.Writer, head ...string) *table {
	align := make([]tw.Align, len(head))
	for i := range align {
		align[i] = tw.AlignRight
	}
	align[0] = tw.AlignLeft
	t := &table{w: w}
	t.t = tablewriter.NewTable(&t.text,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Symbols:  tw.NewSymbols(tw.StyleLight),
			Settings: tw.Settings{Separators: tw.SeparatorsNone},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
	)
	t.t.Header(head)
	return t
}

func (t *table) row(cells ...string) { t.t.Append(cells) }

// render writes the table, without spaces at the ends of lines.
func (t *table) render() error {
	if err := t.t.Render(); err != nil {
		return err
	}
	for line := range strings.Lines(t.text.String()) {
		if _, err := io.WriteString(t.w, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}
