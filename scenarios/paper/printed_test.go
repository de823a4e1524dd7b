package paper

import (
	"math"
	"os"
	"strings"
	"testing"
)

func TestPrintsAreTheAppendix(t *testing.T) {
	seen := map[Cell]bool{}
	unstable := map[string]int{}
	suspect := 0
	for _, p := range prints() {
		if err := p.Cell.check(); err != nil {
			t.Errorf("%s: %v", p.Cell, err)
		}
		if seen[p.Cell] {
			t.Errorf("%s is there twice", p.Cell)
		}
		seen[p.Cell] = true
		if p.Unstable {
			unstable[p.Cell.Table]++
			continue
		}
		if p.Suspect != "" {
			suspect++
		}
		if !(p.Low < p.High) || p.Low < p.Number-0.00501 || p.High > p.Number+0.00501 || p.Number <= 0 {
			t.Errorf("%s: %v was rounded from %v to %v", p.Cell, p.Number, p.Low, p.High)
		}
	}
	for _, table := range PrintedTables {
		for _, protocol := range Protocols {
			eachColumn(func(_ int, config, workload string) {
				if c := (Cell{table, config, workload, protocol}); !seen[c] {
					t.Errorf("%s is missing", c)
				}
			})
		}
	}
	if len(seen) != 162 {
		t.Errorf("%d cells, want 162", len(seen))
	}
	if p, g, q := unstable[P99Slowdown], unstable[MaxGoodput], unstable[MaxTorQueue]; p != 4 || g != 0 || q != 10 {
		t.Errorf("unstable slowdowns %d, goodputs %d, queues %d; want 4, 0, 10", p, g, q)
	}
	if suspect != 8 {
		t.Errorf("%d suspect prints, want 8", suspect)
	}
}

// The means and ranges that the paper prints are those of its cells: a digit that was
// copied wrong would show. Both are rounded to 0.01, and so are the cells.
func TestPrintedMeansAreThoseOfTheCells(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.0101 {
			t.Errorf("%s: got %.4f, want %v", what, got, want)
		}
	}
	text, err := os.ReadFile("data/means.csv")
	if err != nil {
		t.Fatal(err)
	}
	printed := Printed()
	for _, table := range PrintedTables {
		normalized := map[string][]float64{}
		for _, p := range prints() {
			if p.Cell.Table == table && !p.Unstable {
				normalized[p.Cell.Protocol] = append(normalized[p.Cell.Protocol], p.Normalized)
			}
		}
		n := Normalize(printed, table)
		found := 0
		eachRecord("means.csv", text, func(r record) {
			if r.text("table") != table {
				return
			}
			found++
			protocol := r.text("protocol")
			row := n.row(protocol)
			near(protocol+" "+table+" mean", row.RawMean.Mean, r.number("mean"))
			near(protocol+" "+table+" range", row.RawMean.Range, r.number("range"))
			sum, least, most := 0.0, math.Inf(1), math.Inf(-1)
			for _, x := range normalized[protocol] {
				sum, least, most = sum+x, min(least, x), max(most, x)
			}
			mean := sum / float64(len(normalized[protocol]))
			near(protocol+" normalized "+table+" mean", mean, r.number("normalized_mean"))
			near(protocol+" normalized "+table+" range", most-least, r.number("normalized_range"))
		})
		if found != len(Protocols) {
			t.Errorf("%s has %d printed means, want %d", table, found, len(Protocols))
		}
	}
}

// What was rounded to both tables' prints exists: a number in each cell's range, over
// one in the range of the best, is rounded to what the normalized table has.
func TestRangesFollowFromBothTables(t *testing.T) {
	for _, p := range prints() {
		if p.Unstable {
			continue
		}
		low, high := math.Inf(1), 0.0
		for _, q := range prints() {
			a, b := q.Cell, p.Cell
			same := a.Table == b.Table && a.Config == b.Config && a.Workload == b.Workload
			if same && !q.Unstable && q.Normalized == 1 {
				low, high = min(low, q.Low), max(high, q.High)
			}
		}
		if p.Low/high > p.Normalized+0.00501 || p.High/low < p.Normalized-0.00501 {
			t.Errorf("%s: %v to %v over %v to %v cannot be %v", p.Cell, p.Low, p.High, low, high, p.Normalized)
		}
	}
}

// The smallest queues are printed with one digit, and known to a hundredth by the
// normalized table.
func TestSmallQueuesAreKnownBetterThanTheyArePrinted(t *testing.T) {
	for _, p := range prints() {
		if p.Cell.Table == MaxTorQueue && p.Cell.Protocol == "xpass" && !p.Unstable {
			if width := p.High/p.Low - 1; width > 0.01 {
				t.Errorf("%s: from %v to %v, %.1f %%, want at most 1 %%", p.Cell, p.Low, p.High, 100*width)
			}
		}
	}
}

// A suspect print names a cell of the same protocol and table with the same number.
func TestSuspectPrintsAreCopies(t *testing.T) {
	for _, p := range prints() {
		if p.Suspect == "" {
			continue
		}
		at := strings.Fields(strings.TrimPrefix(p.Suspect, "the same as "))
		if len(at) != 2 {
			t.Errorf("%s: %q does not name a cell", p.Cell, p.Suspect)
			continue
		}
		other, ok := printOf(Cell{p.Cell.Table, at[0], at[1], p.Cell.Protocol})
		if !ok || other.Number != p.Number || other.Suspect == "" || other.Cell == p.Cell {
			t.Errorf("%s: %v is not %s's: %v", p.Cell, p.Number, p.Suspect, other.Number)
		}
	}
}

func TestStatedNumbersHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range stated() {
		if v.ID == "" || v.Source == "" || v.What == "" || v.Unit == "" || !(v.Number > 0) || seen[v.ID] {
			t.Errorf("%+v", v)
		}
		seen[v.ID] = true
	}
	for unit, want := range map[string]float64{"% more": 1.25, "% less": 0.75, "%": 0.25, "times": 25, "MB": 25} {
		if got := (Stated{Number: 25, Unit: unit}).measure(); got != want {
			t.Errorf("25 %s is compared as %v, want %v", unit, got, want)
		}
	}
}

func TestASICs(t *testing.T) {
	list := ASICs()
	if len(list) != 26 {
		t.Errorf("%d ASICs, want 26", len(list))
	}
	for _, a := range list {
		if a.Vendor == "" || a.Model == "" || !(a.BisectionTbps > 0) || !(a.BufferMB > 0) {
			t.Errorf("%+v", a)
		}
	}
}
