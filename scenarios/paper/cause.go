package paper

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed data/causes.yaml
var causesYAML []byte

// A Cause is why cells differ from the print by more than the tolerance, as far as an
// experiment has shown it.
type Cause struct {
	Cells []string `yaml:"cells"` // their names as quantities; * stands for any part
	Cause string   `yaml:"cause"`
	Shown string   `yaml:"shown"` // what was run, and what came out
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
	for i, c := range list {
		if len(c.Cells) == 0 || c.Cause == "" || c.Shown == "" {
			return nil, fmt.Errorf("cause %d (%q) needs cells, cause and shown", i+1, c.Cause)
		}
		for _, pattern := range c.Cells {
			if !c.isOfAny(prints(), pattern) {
				return nil, fmt.Errorf("cause %d (%q): no printed cell is %q", i+1, c.Cause, pattern)
			}
		}
	}
	return list, nil
}

func (c Cause) isOfAny(list []Print, pattern string) bool {
	for _, p := range list {
		if ok, _ := path.Match(pattern, p.Cell.String()); ok {
			return true
		}
	}
	return false
}

// of reports whether a cause is of a cell.
func (c Cause) of(cell Cell) bool {
	for _, pattern := range c.Cells {
		if ok, _ := path.Match(pattern, cell.String()); ok {
			return true
		}
	}
	return false
}

// Causes returns a row for each cause of a cell that is outside of its tolerance. The note
// says which cells no experiment was made of. There is no table where no cell is outside.
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
	for _, cell := range outside {
		open[cell] = true
	}
	for _, cause := range causes() {
		var names []string
		for _, cell := range outside {
			if cause.of(cell) {
				names = append(names, cell.String())
				delete(open, cell)
			}
		}
		if len(names) > 0 {
			t.Rows = append(t.Rows, []string{strings.Join(names, ", "), cause.Cause, cause.Shown})
		}
	}
	t.Note = fmt.Sprintf("Causes for %d of %d cells.", len(outside)-len(open), len(outside))
	for _, cell := range outside {
		if open[cell] {
			t.Note += " None yet: " + cell.String() + "."
		}
	}
	return []Table{t}
}

// outside lists the cells that want a cause, with those of suspect prints that are further
// away than the tolerance.
func (c *Comparison) outside() (list []Cell) {
	for _, r := range c.Rows {
		if r.IsOutside() || r.Verdict == SuspectPrint && !r.Within {
			list = append(list, r.Print.Cell)
		}
	}
	return list
}

// IsOutside reports whether a cell was run and is not as printed: further away than the
// tolerance, or unstable on one side alone. Of a suspect print none is.
func (r Row) IsOutside() bool {
	return r.Verdict == Differs || r.Verdict == UnstableHere || r.Verdict == UnstableInPrint
}
