package paper

import "fmt"

// ClaimsTable returns the verdicts on claims as rows, and in its title how many
// there are of each.
func ClaimsTable(findings []Finding) Table {
	t := Table{
		Header: []string{"claim", "verdict", "by print"},
		Note:   "by print: what the same checks say of the paper's own tables, where these have all that is needed.",
	}
	t.Left = len(t.Header)
	count := map[ClaimVerdict]int{}
	for _, f := range findings {
		count[f.Verdict]++
		t.Rows = append(t.Rows, []string{f.Claim.ID, string(f.Verdict), f.byPrint()})
	}
	t.Title = fmt.Sprintf("Claims: %d hold, %d do not, %d are not run, %d not testable here",
		count[Holds], count[DoesNotHold], count[ClaimNotRun], count[NotTestable])
	return t
}

// ClaimDetails returns the same with sources, statements, how they are read, and
// numbers, for where there is room.
func ClaimDetails(findings []Finding) Table {
	t := ClaimsTable(findings)
	t.Header = []string{"claim", "source", "statement", "verdict", "by print", "numbers"}
	t.Left, t.Rows = len(t.Header), nil
	for _, f := range findings {
		statement := f.Claim.Statement
		if f.Claim.Note != "" {
			statement += " (" + f.Claim.Note + ")"
		}
		t.Rows = append(t.Rows,
			[]string{f.Claim.ID, f.Claim.Source, statement, string(f.Verdict), f.byPrint(), f.Text()})
	}
	return t
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
