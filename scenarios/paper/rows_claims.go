package paper

import (
	"fmt"
	"strings"
)

// ClaimsTable returns the verdicts on claims as rows, and in its title how many
// there are of each. Those that lack points are only named below it.
func ClaimsTable(findings []Finding) Table {
	return claimsTable(findings, []string{"claim", "verdict", "by print"}, func(f Finding) []string {
		return []string{f.Claim.ID, string(f.Verdict), f.byPrint()}
	})
}

func claimsTable(findings []Finding, header []string, row func(Finding) []string) Table {
	t := Table{
		Header: header, Left: len(header),
		Note: "by print: what the same checks say of the paper's own tables, where these have all that is needed.",
	}
	count := map[ClaimVerdict]int{}
	var lacking []string
	for _, f := range findings {
		count[f.Verdict]++
		if f.Verdict == ClaimNotRun {
			lacking = append(lacking, f.Claim.ID)
		} else {
			t.Rows = append(t.Rows, row(f))
		}
	}
	if len(lacking) > 0 {
		t.Note += " Not run, for want of points: " + strings.Join(lacking, ", ") + "."
	}
	t.Title = fmt.Sprintf("Claims: %d hold, %d do not, %d are not run, %d not testable here",
		count[Holds], count[DoesNotHold], count[ClaimNotRun], count[NotTestable])
	return t
}

// ClaimDetails returns the same with sources, statements, how they are read, and
// numbers, for where there is room.
func ClaimDetails(findings []Finding) Table {
	header := []string{"claim", "source", "statement", "verdict", "by print", "numbers"}
	return claimsTable(findings, header, func(f Finding) []string {
		statement := f.Claim.Statement
		if f.Claim.Note != "" {
			statement += " (" + f.Claim.Note + ")"
		}
		return []string{f.Claim.ID, f.Claim.Source, statement, string(f.Verdict), f.byPrint(), f.Text()}
	})
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
