package paper

import (
	"os"
	"strings"
	"testing"

	"sirdbed/capture/report"
)

func TestCausesAreOfPrintedCells(t *testing.T) {
	if _, err := readCauses(causesYAML); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`[{cells: [sird/balanced/wka/p99_slowdown], cause: it is so}]`:             "needs cells, cause and shown",
		`[{cells: [sird/*/wkx/p99_slowdown], cause: it is so, shown: by a run}]`:   "no printed cell",
		`[{cells: ["mine/*/*/*"], cause: it is so, shown: by a run}]`:              "no printed cell",
		`[{cells: ["sird/[/*/*"], cause: it is so, shown: by a run}]`:              "no printed cell",
		`[{cells: ["sird/*/*/*"], cause: it is so, shown: by a run, because: no}]`: "unknown field",
	} {
		if _, err := readCauses([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Each cell outside its tolerance has its cause, or is named as one without.
func TestCellsOutsideHaveCausesOrAreNamed(t *testing.T) {
	m := Printed()
	double := func(c Cell) {
		v := m.Cells[c]
		v.Number *= 2
		m.Cells[c] = v
	}
	same, err := Compare(m)
	if err != nil {
		t.Fatal(err)
	}
	if tables := same.Causes(); tables != nil {
		t.Errorf("where no cell is outside: %+v, want no table", tables)
	}
	known := Cell{P99Slowdown, "balanced", "wkb", "swift"}
	unknown := Cell{P99Slowdown, "core", "wkb", "swift"}
	double(known)
	double(unknown)
	before := causes
	defer func() { causes = before }()
	causes = func() []Cause {
		return []Cause{
			{Cells: []string{"swift/balanced/*/*"}, Cause: "a parameter", Shown: "a run"},
			{Cells: []string{"dctcp/*/*/*"}, Cause: "another", Shown: "another run"},
		}
	}
	c, err := Compare(m)
	if err != nil {
		t.Fatal(err)
	}
	tables := c.Causes()
	if len(tables) != 1 {
		t.Fatalf("%d tables, want 1", len(tables))
	}
	table := tables[0]
	if len(table.Rows) != 1 || table.Rows[0][0] != known.String() || table.Rows[0][1] != "a parameter" {
		t.Errorf("causes %q, want the one of %v", table.Rows, known)
	}
	if want := "Causes for 1 of 2 cells. None yet: " + unknown.String() + "."; table.Note != want {
		t.Errorf("note %q, want %q", table.Note, want)
	}
}

// A cause that is not in RESULTS.md is of cells that are within their tolerance by now, or was reworded since.
func TestCausesAreOfCellsOutside(t *testing.T) {
	text, err := os.ReadFile("../../RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range causes() {
		for _, said := range []string{c.Cause, c.Shown} {
			if !strings.Contains(string(text), report.MarkdownText(said)) {
				t.Errorf("%s: not in RESULTS.md, which scripts/results.sh writes: %s",
					strings.Join(c.Cells, ", "), said)
			}
		}
	}
}
