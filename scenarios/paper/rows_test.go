package paper_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sirdbed/capture/report"
	"sirdbed/scenarios/paper"
)

// Rows have a cell for each column, whatever was measured; and tables are what
// capture/report prints.
func TestTablesAreWhole(t *testing.T) {
	partly := paper.Printed()
	for c, v := range paper.Printed().Cells {
		switch {
		case c.Workload == "wkb":
			delete(partly.Cells, c)
		case c.Protocol == "swift" && c.Table != paper.MaxGoodput:
			partly.Cells[c] = paper.Value{Unstable: true, Why: "it carries 40 % of 50"}
		case c.Protocol == "sird":
			partly.Cells[c] = paper.Value{Number: 2 * v.Number, Seeds: []float64{v.Number, 2 * v.Number, 3 * v.Number}}
			c.Protocol = "mine"
			partly.Cells[c] = v
		}
	}
	for name, m := range map[string]*paper.Measured{"print": paper.Printed(), "nothing": {}, "partly": partly} {
		t.Run(name, func(t *testing.T) {
			c, err := paper.Compare(m)
			if err != nil {
				t.Fatal(err)
			}
			findings, err := paper.Evaluate(m)
			if err != nil {
				t.Fatal(err)
			}
			tables := slices.Concat(c.Grids(), c.Cells(false), c.Cells(true))
			tables = append(tables, c.Scores.Table(), c.WrongOrders(), paper.MeansTable(m), paper.ClaimsTable(findings))
			tables = append(tables, paper.ClaimDetails(findings)...)
			for _, table := range paper.PrintedTables {
				tables = append(tables, paper.Normalize(m, table).Grid())
			}
			for _, table := range tables {
				printed := report.Table(table)
				if short, long := len(printed.Header), len(printed.Head()); printed.Title == "" || short != long {
					t.Errorf("%q has %d columns, and where there is room %d", table.Title, short, long)
				}
				for _, row := range table.Rows {
					if len(row) != len(table.Header) {
						t.Errorf("%q: %d cells for %d columns: %q", table.Title, len(row), len(table.Header), row)
					}
					for _, cell := range row {
						if strings.Contains(cell, "NaN") || strings.Contains(cell, "%!") {
							t.Errorf("%q: %q", table.Title, row)
						}
					}
				}
			}
		})
	}
}

// find is the row of a table that begins with these cells.
func find(t *testing.T, table paper.Table, first ...string) []string {
	t.Helper()
	for _, row := range table.Rows {
		if slices.Equal(row[:len(first)], first) {
			return row
		}
	}
	t.Fatalf("%q has no row %q", table.Title, first)
	return nil
}

func TestRowsSayWhatWasFound(t *testing.T) {
	cell := func(table, workload, protocol string) paper.Cell {
		return paper.Cell{table, "incast", workload, protocol}
	}
	m := &paper.Measured{Cells: map[paper.Cell]paper.Value{
		cell(paper.P99Slowdown, "wka", "sird"):   {Number: 3.3, Seeds: []float64{3.0, 3.3, 3.63}}, // 1.65 in print
		cell(paper.P99Slowdown, "wkb", "xpass"):  {Number: 47.45},
		cell(paper.P99Slowdown, "wkb", "homa"):   {Unstable: true, Why: "it carries 40 of 50 Gbps"},
		cell(paper.P99Slowdown, "wka", "dctcp"):  {Unstable: true},
		cell(paper.P99Slowdown, "wka", "mine"):   {Number: 1.5},
		cell(paper.MeanTorQueue, "wka", "xpass"): {Number: 0.0123},
	}}
	c, err := paper.Compare(m)
	if err != nil {
		t.Fatal(err)
	}
	grids := c.Grids()
	if len(grids) != 2 {
		t.Fatalf("%d grids, want those of slowdown and mean queue", len(grids))
	}
	wka := slices.Index(grids[0].Wide, "incast wka")
	for _, tc := range []struct {
		protocol, what string
		column         int
		want           string
	}{
		{"sird", "paper", wka, "1.65"}, {"", "here", wka, "3.30*"}, {"", "ratio", wka, "2.00"},
		{"mine", "here", wka, "1.50"},
	} {
		if got := find(t, grids[0], tc.protocol, tc.what)[tc.column]; got != tc.want {
			t.Errorf("%s %s: got %q, want %q", tc.protocol, tc.what, got, tc.want)
		}
	}
	if got := find(t, grids[1], "xpass", "here")[wka]; got != "0.012" {
		t.Errorf("mean queue: got %q, want 0.012", got)
	}

	outside := c.Cells(true)
	if len(outside) != 1 || len(outside[0].Rows) != 3 {
		t.Fatalf("outside: %v", outside)
	}
	want := []string{"incast", "wka", "sird", "1.65", "3.30", "+1.65", "2.00", "15 %", "19.1 %", "3", "differs"}
	if got := find(t, outside[0], "incast", "wka", "sird"); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, part := range []string{
		"incast wkb xpass: the print is the same as incast wkc.", "incast wkb homa: it carries 40 of 50 Gbps.",
	} {
		if !strings.Contains(outside[0].Note, part) {
			t.Errorf("note %q has no %q", outside[0].Note, part)
		}
	}
	got := find(t, c.Scores.Table(), "SIRD's numbers within 15 %")[1:]
	if want := []string{"0", "1", "0.0 %", "26"}; !slices.Equal(got, want) {
		t.Errorf("scores: got %q, want %q", got, want)
	}
}

func TestCellsHasAllThatWereRun(t *testing.T) {
	c, err := paper.Compare(paper.Printed())
	if err != nil {
		t.Fatal(err)
	}
	all, outside := c.Cells(false), c.Cells(true)
	if len(all) != 3 || len(all[0].Rows) != 54 || len(all[1].Rows) != 54 || len(all[2].Rows) != 54 {
		t.Errorf("%d tables, want 3 of 54 rows", len(all))
	}
	doubted := 0
	for _, table := range outside {
		doubted += len(table.Rows)
	}
	if doubted != 8 {
		t.Errorf("%d cells do not agree, want the 8 suspect ones", doubted)
	}
}

func TestWrongOrdersNamesThePairs(t *testing.T) {
	m := paper.Printed()
	c, err := paper.Compare(m)
	if err != nil {
		t.Fatal(err)
	}
	if wrong := c.WrongOrders(); len(wrong.Rows) != 0 {
		t.Errorf("by print: %q", wrong.Rows)
	}
	m.Cells[paper.Cell{paper.MaxTorQueue, "incast", "wkb", "sird"}] = paper.Value{Number: 12.17}
	if c, err = paper.Compare(m); err != nil {
		t.Fatal(err)
	}
	wrong := c.WrongOrders()
	want := []string{paper.MaxTorQueue, "incast", "wkb", "sird", "0.81", "12.17", "homa", "12.17?", "12.17"}
	if len(wrong.Rows) != 1 || !slices.Equal(wrong.Rows[0], want) {
		t.Errorf("got %q, want %q alone", wrong.Rows, want)
	}
}

// Claims that do not hold come first; those that lack points are named, those that cannot be
// tested have a table of their own with the reasons.
func TestClaimsAreInOrderOfWhatCameOut(t *testing.T) {
	claim := func(id, why string) paper.Claim {
		return paper.Claim{ID: id, Source: "section 6", Statement: "It is so.", NotTestable: why}
	}
	findings := []paper.Finding{
		{Claim: claim("good", ""), Verdict: paper.Holds}, {Claim: claim("none", "it has no number"),
			Verdict: paper.NotTestable},
		{Claim: claim("open", ""), Verdict: paper.ClaimNotRun}, {Claim: claim("bad", ""), Verdict: paper.DoesNotHold},
	}
	details := paper.ClaimDetails(findings)
	for i, want := range [][]string{{"bad", "good"}, {"none"}} {
		var got []string
		for _, row := range details[i].Rows {
			got = append(got, row[0])
		}
		if !slices.Equal(got, want) {
			t.Errorf("table %q has %q, want %q", details[i].Title, got, want)
		}
	}
	if got := find(t, details[1], "none")[3]; got != "it has no number" {
		t.Errorf("why: %q", got)
	}
	short, want := paper.ClaimsTable(findings), "Claims: 1 hold, 1 not, 1 are not run, 1 not testable here"
	if short.Title != want || len(short.Rows) != 2 {
		t.Errorf("%q with %d rows, want %q with 2", short.Title, len(short.Rows), want)
	}
	if !strings.Contains(short.Note, "for want of points: open.") {
		t.Errorf("note %q", short.Note)
	}
}

// What is said first is of the cells that were run, of SIRD only if it was.
func TestSummary(t *testing.T) {
	for _, c := range []struct {
		cells map[paper.Cell]paper.Value
		want  []string
		not   string
	}{
		{nil, nil, ""},
		{map[paper.Cell]paper.Value{{paper.MaxTorQueue, "balanced", "wkb", "homa"}: {Number: 9.46}}, []string{
			"p99 slowdown of all messages at 50 % load (0 of 54)", "Deepest queue of a ToR over all loads (1 of 54)",
			"All protocols: 1 of 1 numbers within 25 % of the print, 1 within 15 %: queues 1 of 1 within 25 %.",
		}, "0 of 0"},
		{map[paper.Cell]paper.Value{
			{paper.P99Slowdown, "balanced", "wkb", "homa"}:  {Number: 2.4},
			{paper.P99Slowdown, "balanced", "wkb", "swift"}: {Number: 7.6},
		}, []string{"1 of 1 are in the order of the print: of slowdowns 1 of 1."}, "SIRD:"},
		{paper.Printed().Cells, []string{
			"SIRD: 27 of 27 numbers within 15 % of the print, the furthest 0 % off.", "140 of 140 numbers",
		}, "NaN"},
	} {
		comparison, err := paper.Compare(&paper.Measured{Cells: c.cells})
		if err != nil {
			t.Fatal(err)
		}
		got := comparison.Summary()
		if (got == "") != (c.want == nil) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%d cells: %q", len(c.cells), got)
		}
		for _, part := range c.want {
			if !strings.Contains(got, part) {
				t.Errorf("%d cells: %q has no %q", len(c.cells), got, part)
			}
		}
	}
}

func TestMeansTableComparesTheSameCells(t *testing.T) {
	m := &paper.Measured{Cells: map[paper.Cell]paper.Value{
		{paper.MaxTorQueue, "balanced", "wkb", "sird"}: {Number: 0.81},
		{paper.MaxTorQueue, "balanced", "wkb", "homa"}: {Number: 8.1},
	}}
	got := find(t, paper.MeansTable(m), paper.MaxTorQueue, "homa")
	want := []string{paper.MaxTorQueue, "homa", "10", "11.68", "10", "11.68", "10", "11.68",
		"10", "11.68"} // 9.46 over 0.81 in print
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func ExampleCompare() {
	m := &paper.Measured{Cells: map[paper.Cell]paper.Value{
		{Table: paper.P99Slowdown, Config: "balanced", Workload: "wkc", Protocol: "sird"}: {Number: 4.2},
		{Table: paper.P99Slowdown, Config: "balanced", Workload: "wkc", Protocol: "homa"}: {Number: 3.4},
		{Table: paper.MaxTorQueue, Config: "core", Workload: "wka", Protocol: "xpass"}:    {Unstable: true},
	}}
	c, err := paper.Compare(m)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range c.Rows {
		if r.Verdict != paper.NotRun {
			fmt.Printf("%s: %s, ratio %.2f\n", r.Print.Cell, r.Verdict, r.Ratio)
		}
	}
	fmt.Printf("SIRD: %d of %d\n", c.Scores.SIRD.Right, c.Scores.SIRD.Run)
	fmt.Printf("orders: %d of %d\n", c.Scores.Orders.Right, c.Scores.Orders.Run)
	// Output:
	// sird/balanced/wkc/p99_slowdown: agrees, ratio 1.05
	// homa/balanced/wkc/p99_slowdown: agrees, ratio 0.94
	// xpass/core/wka/max_tor_queue_mb: both unstable, ratio 0.00
	// SIRD: 1 of 1
	// orders: 1 of 1
}
