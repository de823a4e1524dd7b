package paper

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed data/causes.yaml
var causesYAML []byte

// A Cause is why cells differ from the print by more than the tolerance, as far as an
// experiment has shown it.
type Cause struct {
	// By the cells' names as quantities, the number that the experiments were made about, or "unst".
	Cells map[string]string `yaml:"cells"`
	Cause string            `yaml:"cause"`
	Shown string            `yaml:"shown"` // what was run, and what came out

	about map[Cell]Value
}

var causes = sync.OnceValue(func() []Cause {
	list, err := readCauses(causesYAML)
	if err != nil {
		panic(fmt.Sprintf("causes.yaml: %v", err)) // a mistake of ours
	}
	return list
})

// readCauses reads a list of causes, strictly.
func readCauses(text []byte) (list []Cause, err error) {
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&list); err != nil && err != io.EOF {
		return nil, err
	}
	for i := range list {
		c := &list[i]
		if len(c.Cells) == 0 || c.Cause == "" || c.Shown == "" {
			return nil, fmt.Errorf("cause %d (%q) needs cells, cause and shown", i+1, c.Cause)
		}
		c.about = map[Cell]Value{}
		for name, text := range c.Cells {
			cell, _ := cellNamed(name)
			if !slices.ContainsFunc(prints(), func(p Print) bool { return p.Cell == cell }) {
				return nil, fmt.Errorf("cause %d (%q): no printed cell is %q", i+1, c.Cause, name)
			}
			x, err := strconv.ParseFloat(text, 64)
			v := Value{Number: x, Unstable: text == "unst"}
			if err != nil && !v.Unstable || v.check() != nil {
				return nil, fmt.Errorf("cause %d (%q): %s is %q: want a number, or unst", i+1, c.Cause, name, text)
			}
			c.about[cell] = v
		}
	}
	return list, nil
}

// otherNumber is by how much a number may differ from the one that experiments explained: of a larger difference they
// say nothing.
const otherNumber = 0.1

// of reports whether a cause is of a cell with a value.
func (c *Cause) of(cell Cell, v Value) bool {
	about, known := c.about[cell]
	return known && about.Unstable == v.Unstable &&
		(v.Unstable || math.Abs(v.Number-about.Number) <= otherNumber*about.Number)
}

// Causes returns a row for each cause of a cell that is outside of its tolerance. They are of numbers at the paper's
// scale. The note says which cells no experiment was made of. There is no table where no cell is outside.
func (c *Comparison) Causes() []Table {
	outside := c.outside()
	if len(outside) == 0 {
		return nil
	}
	t := Table{
		Title: "What experiments say about cells outside their tolerance", Left: 3,
		Header:    []string{"cells", "cause", "shown by"},
		Sentences: true,
	}
	open := map[Cell]bool{}
	for _, r := range outside {
		open[r.Print.Cell] = true
	}
	list := causes()
	for i := range list {
		cause, names := &list[i], []string(nil)
		for _, r := range outside {
			if cell := r.Print.Cell; cause.of(cell, *r.Here) {
				names = append(names, cell.String())
				delete(open, cell)
			}
		}
		if len(names) > 0 {
			t.Rows = append(t.Rows, []string{strings.Join(names, ", "), cause.Cause, cause.Shown})
		}
	}
	t.Note = fmt.Sprintf("Causes for %d of %d cells.", len(outside)-len(open), len(outside))
	for _, r := range outside {
		if cell := r.Print.Cell; open[cell] {
			t.Note += " None yet: " + cell.String() + "."
		}
	}
	return []Table{t}
}

// outside lists the cells that want a cause, with those of suspect prints that are further
// away than the tolerance.
func (c *Comparison) outside() (list []Row) {
	for _, r := range c.Rows {
		if r.IsOutside() || r.Verdict == SuspectPrint && !r.Within {
			list = append(list, r)
		}
	}
	return list
}

// IsOutside reports whether a cell was run and is not as printed: further away than the
// tolerance, or unstable on one side alone. Of a suspect print none is.
func (r Row) IsOutside() bool {
	return r.Verdict == Differs || r.Verdict == UnstableHere || r.Verdict == UnstableInPrint
}
