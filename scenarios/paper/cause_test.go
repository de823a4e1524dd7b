package paper

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sirdbed/capture/report"
)

func TestCausesAreOfPrintedCells(t *testing.T) {
	if _, err := readCauses(causesYAML); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`[{cells: {sird/balanced/wka/p99_slowdown: 2}, cause: so}]`:                           "needs cells",
		`[{cells: {}, cause: so, shown: by a run}]`:                                           "needs cells",
		`[{cells: {sird/core/wkx/p99_slowdown: 2}, cause: so, shown: by a run}]`:              "no printed cell",
		`[{cells: {mine/core/wka/p99_slowdown: 2}, cause: so, shown: by a run}]`:              "no printed cell",
		`[{cells: {sird: 2}, cause: so, shown: by a run}]`:                                    "no printed cell",
		`[{cells: {sird/core/wka/p99_slowdown: many}, cause: so, shown: by a run}]`:           "want a number, or unst",
		`[{cells: {sird/core/wka/p99_slowdown: .nan}, cause: so, shown: by a run}]`:           "want a number, or unst",
		`[{cells: {sird/core/wka/p99_slowdown: -1}, cause: so, shown: by a run}]`:             "want a number, or unst",
		`[{cells: {sird/core/wka/p99_slowdown: 2}, cause: so, shown: by a run, because: no}]`: "unknown field",
	} {
		if _, err := readCauses([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Each cell outside its tolerance has its cause, or is named as one without. A cause is of the number that it explains.
func TestCellsOutsideHaveCausesOrAreNamed(t *testing.T) {
	m := Printed()
	same, err := Compare(m)
	if err != nil {
		t.Fatal(err)
	}
	if tables := same.Causes(); tables != nil {
		t.Errorf("where no cell is outside: %+v, want no table", tables)
	}
	explained := Cell{P99Slowdown, "balanced", "wkb", "swift"}
	other := Cell{P99Slowdown, "balanced", "wkc", "swift"}
	unstable := Cell{MaxTorQueue, "balanced", "wkc", "sird"}
	stable := Cell{MaxTorQueue, "balanced", "wkb", "sird"}
	unknown := Cell{P99Slowdown, "core", "wkb", "swift"}
	maps.Copy(m.Cells, map[Cell]Value{
		explained: {Number: 31}, other: {Number: 31}, unstable: {Unstable: true}, stable: {Number: 31},
		unknown: {Number: 31},
	})
	before := causes
	defer func() { causes = before }()
	list, err := readCauses([]byte(`
- {cells: {swift/balanced/wkb/p99_slowdown: 30, swift/balanced/wkc/p99_slowdown: 25}, cause: a parameter, shown: a run}
- {cells: {sird/balanced/wkc/max_tor_queue_mb: unst}, cause: it grows, shown: it grew}
- {cells: {sird/balanced/wkb/max_tor_queue_mb: unst}, cause: it grows too, shown: it grew}
- {cells: {dctcp/core/wka/p99_slowdown: 31}, cause: another, shown: another run}
`))
	if err != nil {
		t.Fatal(err)
	}
	causes = func() []Cause { return list }
	c, err := Compare(m)
	if err != nil {
		t.Fatal(err)
	}
	tables := c.Causes()
	if len(tables) != 1 {
		t.Fatalf("%d tables, want 1", len(tables))
	}
	var rows []string
	for _, row := range tables[0].Rows {
		rows = append(rows, row[0]+": "+row[1])
	}
	want := []string{explained.String() + ": a parameter", unstable.String() + ": it grows"}
	if !slices.Equal(rows, want) {
		t.Errorf("causes %q, want %q", rows, want)
	}
	note := tables[0].Note
	if !strings.Contains(note, "Causes for 2 of 5 cells.") {
		t.Errorf("note %q", note)
	}
	for _, cell := range []Cell{other, stable, unknown} {
		if !strings.Contains(note, "None yet: "+cell.String()+".") {
			t.Errorf("%s is not named in %q", cell, note)
		}
	}
}

// A cause that is not in RESULTS.md is of cells that are within their tolerance by now, or was reworded since; and a
// number that its row there does not have is not its cell's any more.
func TestCausesAreOfCellsOutside(t *testing.T) {
	text, err := os.ReadFile("../../RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range causes() {
		for _, said := range []string{c.Cause, c.Shown} {
			if !strings.Contains(string(text), report.MarkdownText(said)) {
				t.Errorf("%s: not in RESULTS.md, which scripts/results.sh writes: %s",
					strings.Join(slices.Sorted(maps.Keys(c.Cells)), ", "), said)
			}
		}
		for cell := range c.about {
			here, ok := inResults(string(text), cell)
			if !ok || !c.of(cell, here) {
				t.Errorf("%s: the cause is of %s, RESULTS.md has %s", cell, c.Cells[cell.String()], here.Text())
			}
		}
	}
}

// inResults is the value that a row of RESULTS.md has of a cell.
func inResults(text string, cell Cell) (v Value, ok bool) {
	_, text, _ = strings.Cut(text, "## Cells that differ")
	_, text, ok = strings.Cut(text, titles[cell.Table])
	if !ok {
		return v, false
	}
	_, row, ok := strings.Cut(text, fmt.Sprintf("\n| %s | %s | %s | ", cell.Config, cell.Workload, cell.Protocol))
	fields := strings.Split(row, " | ")
	if !ok || len(fields) < 2 {
		return v, false
	}
	if v.Unstable = fields[1] == "unst"; !v.Unstable {
		x, err := strconv.ParseFloat(fields[1], 64)
		return Value{Number: x}, err == nil
	}
	return v, true
}
