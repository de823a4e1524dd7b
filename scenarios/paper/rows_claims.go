package paper

import (
	"fmt"
	"slices"
	"strings"
)

// ClaimsTable returns the verdicts on claims as rows, those that do not hold first, and in its
// title how many there are of each. Those that lack points are only named below it, and those
// that are not testable here only counted.
func ClaimsTable(findings []Finding) Table {
	return claimsTable(findings, []string{"claim", "verdict", "by print"}, func(f Finding) []string {
		return []string{f.Claim.ID, string(f.Verdict), f.byPrint()}
	})
}

func claimsTable(findings []Finding, header []string, row func(Finding) []string) Table {
	t := Table{
		Header: header, Left: len(header),
		Note: "by print: the verdict of the same checks on the paper's own tables, if these have all it takes. " +
			"A tolerance applies to the ratio: 34 % more, within 15 %, is 1.34 times, within 15 %.",
	}
	by := map[ClaimVerdict][]Finding{}
	for _, f := range findings {
		by[f.Verdict] = append(by[f.Verdict], f)
	}
	for _, f := range slices.Concat(by[DoesNotHold], by[Holds]) {
		t.Rows = append(t.Rows, row(f))
	}
	var lacking []string
	for _, f := range by[ClaimNotRun] {
		lacking = append(lacking, f.Claim.ID)
	}
	if len(lacking) > 0 {
		t.Note += " Not run, for want of points: " + strings.Join(lacking, ", ") + "."
	}
	t.Title = fmt.Sprintf("Claims: %d hold, %d not, %d are not run, %d not testable here",
		len(by[Holds]), len(by[DoesNotHold]), len(by[ClaimNotRun]), len(by[NotTestable]))
	return t
}

// ClaimDetails returns the same with sources, statements, how they are read, and numbers, for
// where there is room, and a table of those that are not testable here, and why.
func ClaimDetails(findings []Finding) []Table {
	statement := func(f Finding) string {
		if f.Claim.Note != "" {
			return f.Claim.Statement + " (" + f.Claim.Note + ")"
		}
		return f.Claim.Statement
	}
	header := []string{"claim", "source", "statement", "verdict", "by print", "numbers"}
	tested := claimsTable(findings, header, func(f Finding) []string {
		return []string{f.Claim.ID, f.Claim.Source, statement(f), string(f.Verdict), f.byPrint(), f.Text()}
	})
	tested.Note += " An unstable figure is infinite, so a ratio over it is 0."
	others := Table{
		Title: "Not testable here", Header: []string{"claim", "source", "statement", "why"}, Left: 4,
	}
	for _, f := range findings {
		if f.Verdict == NotTestable {
			others.Rows = append(others.Rows, []string{f.Claim.ID, f.Claim.Source, statement(f), f.Text()})
		}
	}
	tested.Sentences, others.Sentences = true, true
	return []Table{tested, others}
}

func (f Finding) byPrint() string {
	if f.ByPrint == claimNoPrint {
		return "-"
	}
	return string(f.ByPrint)
}

// Text says what a finding's verdict is of: numbers, what is missing, or why it is
// not testable.
func (f Finding) Text() string {
	text := f.Claim.NotTestable
	for _, n := range f.Numbers {
		if text != "" {
			text += "; "
		}
		text += n
	}
	if n := len(f.Missing); n > 0 {
		if text != "" {
			text += "; "
		}
		text += "lacks " + f.Missing[0]
		if n > 1 {
			text += fmt.Sprintf(" and %d more", n-1)
		}
	}
	return text
}
