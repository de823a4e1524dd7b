package main

import (
	"github.com/spf13/cobra"

	"sirdbed/capture/report"
	"sirdbed/scenarios/reproduce"
)

// show prints the tables of a reproduction.
func (o *reproduceOptions) show(c *cobra.Command, f *reproduce.Found) error {
	var tables []report.Table
	for _, study := range []string{"balanced", "core", "incast"} {
		if len(f.Protocols(study)) > 0 {
			tables = append(tables, cellsTable(f, study))
		}
	}
	return report.PrintTables(c.OutOrStdout(), tables)
}

// cellsTable has the cells of a configuration.
func cellsTable(f *reproduce.Found, study string) report.Table {
	t := report.Table{Title: "paper/" + study, Left: 1, Header: []string{"protocol"}}
	workloads := []string{"wka", "wkb", "wkc"}
	for _, what := range []string{"p99", "Gbps", "MB"} {
		for _, w := range workloads {
			t.Header = append(t.Header, what+" "+w)
		}
	}
	for _, p := range f.Protocols(study) {
		row := []string{p}
		for _, w := range workloads {
			row = append(row, cellText(f.Slowdown(study, w, p, "released")))
		}
		for _, w := range workloads {
			row = append(row, cellText(f.Goodput(study, w, p)))
		}
		for _, w := range workloads {
			row = append(row, cellText(f.Queue(study, w, p)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func cellText(c reproduce.Figure) string {
	switch {
	case !c.There:
		return "-"
	case c.Unstable:
		return "unst"
	}
	return report.Number(c.Value)
}
