package paper

import (
	"fmt"
	"strings"

	"sirdbed/capture/report"
)

// A Table is rows for whoever prints them.
type Table = report.Table

// titles are those of tables, with the unit.
var titles = map[string]string{
	P99Slowdown:  "p99 slowdown of all messages at 50 % load",
	MaxGoodput:   "Maximum goodput over all loads, Gbps per host",
	MaxTorQueue:  "Deepest queue of a ToR over all loads, MB",
	MaxCompleted: "Maximum goodput by messages completed, Gbps per host",
	MeanTorQueue: "Mean queue of a ToR, the most of all loads, MB",
}

// Title is what a table is called, with its unit.
func Title(table string) string { return titles[table] }

// tableHeader is the header of a table with the nine columns, after some others.
// Where there is little room it has "bal a" for Balanced and WKa.
func tableHeader(first ...string) (header, wide []string) {
	short := map[string]string{"balanced": "bal", "core": "core", "incast": "inc"}
	header, wide = append(header, first...), append(wide, first...)
	eachColumn(func(_ int, config, workload string) {
		header = append(header, short[config]+" "+strings.TrimPrefix(workload, "wk"))
		wide = append(wide, config+" "+workload)
	})
	return header, wide
}

// Text prints a value: its number, or that it is unstable.
func (v *Value) Text() string {
	switch {
	case v == nil:
		return "-"
	case v.Unstable:
		return "unst"
	}
	return fixed(v.Number)
}

// Text prints the number as the paper does.
func (p Print) Text() string {
	if p.Unstable {
		return "unst"
	}
	return fmt.Sprintf("%.2f", p.Number)
}

// mark is what stands behind a print that is doubted.
func (p Print) mark() string {
	if p.Suspect != "" {
		return "?"
	}
	return ""
}

// fixed prints a number with two decimals, or more if it is small.
func fixed(x float64) string {
	if x != 0 && x < 0.1 {
		return fmt.Sprintf("%.2g", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// mark is what stands behind a number that does not just agree.
func (v Verdict) mark() string {
	switch v {
	case Differs, UnstableHere, UnstableInPrint:
		return "*"
	case SuspectPrint:
		return "?"
	}
	return ""
}
