package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A ClaimVerdict is what a check of a claim came to.
type ClaimVerdict string

// The verdicts of claims.
const (
	Holds        ClaimVerdict = "holds"
	DoesNotHold  ClaimVerdict = "does not hold"
	ClaimNotRun  ClaimVerdict = "not run"           // something that it needs was not measured
	NotTestable  ClaimVerdict = "not testable here" // Claim.NotTestable says why
	claimNoPrint ClaimVerdict = ""                  // the tables of the appendix do not have what it needs
)

// A Finding is a claim with its verdict, and what that is of.
type Finding struct {
	Claim   Claim        `json:"claim"`
	Verdict ClaimVerdict `json:"verdict"`
	Numbers []string     `json:"numbers,omitempty"` // in words, one for each check that was made
	Missing []string     `json:"missing,omitempty"` // names of cells and quantities
	// The verdict on the numbers of the paper's own tables, "" if those are not what it needs.
	ByPrint ClaimVerdict `json:"by_print,omitempty"`
}

// Evaluate checks all claims with what was measured. The error is that of Check.
func Evaluate(m *Measured) ([]Finding, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("cannot check the paper's claims: %w", err)
	}
	var list []Finding
	printed := Printed()
	for _, c := range claims() {
		f := c.evaluate(m)
		f.ByPrint = c.evaluate(printed).Verdict
		if f.ByPrint == ClaimNotRun || f.ByPrint == NotTestable {
			f.ByPrint = claimNoPrint
		}
		list = append(list, f)
	}
	return list, nil
}

// evaluate makes those of the claim's checks whose figures were measured. One that
// fails is enough.
func (c Claim) evaluate(m *Measured) Finding {
	f := Finding{Claim: c, Verdict: Holds}
	if c.NotTestable != "" {
		f.Verdict = NotTestable
		return f
	}
	failed := false
	for _, check := range c.Checks {
		if missing := check.missing(m); len(missing) > 0 {
			f.Missing = append(f.Missing, missing...)
			continue
		}
		o := check.check.evaluate(figures{m})
		f.Numbers = append(f.Numbers, o.text)
		failed = failed || !o.holds
	}
	slices.Sort(f.Missing)
	f.Missing = slices.Compact(f.Missing)
	switch {
	case failed:
		f.Verdict = DoesNotHold
	case len(f.Missing) > 0:
		f.Verdict = ClaimNotRun
	}
	return f
}

// missing returns what the check needs and was not measured.
func (c claimedCheck) missing(m *Measured) (names []string) {
	for _, n := range c.needs {
		if _, ok := m.get(n); !ok {
			names = append(names, Canonical(n))
		}
	}
	return names
}

// An outcome is what a check found.
type outcome struct {
	holds bool
	text  string // the numbers, in words
}

// figures are what was measured, for a check that has all it needs.
type figures struct{ m *Measured }

// of returns a figure by name. One that is unstable is infinite, but for a goodput,
// which is what is carried.
func (f figures) of(name string) float64 {
	v, _ := f.m.get(name)
	if v.Unstable && !strings.HasSuffix(name, "goodput_gbps") {
		return math.Inf(1)
	}
	return v.Number
}

// normalized returns a table of the paper's protocols alone: what a user's own does
// cannot change what holds of them.
func (f figures) normalized(table string) *Normalized {
	own := &Measured{Cells: map[Cell]Value{}}
	for c, v := range f.m.Cells {
		if slices.Contains(Protocols, c.Protocol) {
			own.Cells[c] = v
		}
	}
	return Normalize(own, table)
}

// cellsOf returns the names of all cells of tables for the paper's protocols.
func cellsOf(tables ...string) (names []string, err error) {
	for _, table := range tables {
		for _, p := range Protocols {
			eachColumn(func(_ int, config, workload string) {
				c := Cell{table, config, workload, p}
				if e := c.check(); e != nil {
					err = e
				}
				names = append(names, c.String())
			})
		}
	}
	return names, err
}
