package paper

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Measured is what was measured, as far as it was: what is missing was not run.
type Measured struct {
	Cells map[Cell]Value
	// What claims need besides, by name (README, Quantities). Wanted has the names.
	Quantities map[string]Value
}

// Check returns everything that is wrong with names and numbers, in the order of
// names.
func (m *Measured) Check() error {
	var wrong []error
	report := func(name string, err error) {
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
		}
	}
	for _, c := range m.cells() {
		v := m.Cells[c]
		name := fmt.Sprintf("cell %q", c)
		report(name, c.check())
		report(name, v.check())
		if v.Unstable && c.Table == MaxGoodput {
			report(name, errors.New("a goodput is never unstable: what is carried is its number"))
		}
		if v.Number == 0 && !v.Unstable && c.Table == P99Slowdown {
			report(name, errors.New("no slowdown is 0"))
		}
	}
	for _, q := range slices.Sorted(maps.Keys(m.Quantities)) {
		name := fmt.Sprintf("quantity %q", q)
		report(name, checkQuantity(q))
		if _, ok := cellNamed(q); ok {
			report(name, errors.New("it is a cell's"))
		}
		if plain := Canonical(q); plain != q {
			report(name, fmt.Errorf("settings that are the paper's own are not spelt out: it is %q", plain))
		}
		report(name, m.Quantities[q].check())
	}
	return errors.Join(wrong...)
}

// cells returns the names of the cells, as tables have them.
func (m *Measured) cells() []Cell { return slices.SortedFunc(maps.Keys(m.Cells), compareCells) }

// get returns a cell or quantity by its name, in which settings may be the paper's own.
func (m *Measured) get(name string) (v Value, ok bool) {
	if c, isCell := cellNamed(name); isCell {
		v, ok = m.Cells[c]
		return v, ok
	}
	v, ok = m.Quantities[Canonical(name)]
	return v, ok
}

// protocols returns those of the cells of a table: the paper's in its order, then
// the others by name.
func (m *Measured) protocols(table string) []string {
	there := map[string]bool{}
	for c := range m.Cells {
		if c.Table == table {
			there[c.Protocol] = true
		}
	}
	list := slices.DeleteFunc(slices.Clone(Protocols), func(p string) bool { return !there[p] })
	for _, p := range slices.Sorted(maps.Keys(there)) {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// compareCells orders cells as tables have them: by table, configuration, workload
// and protocol, and names that the paper does not have by name, after those.
func compareCells(a, b Cell) int {
	by := func(list []string, a, b string) int {
		i, j := slices.Index(list, a), slices.Index(list, b)
		switch {
		case a == b:
			return 0
		case i < 0 && j < 0 && a < b, j < 0 && i >= 0, i >= 0 && j >= 0 && i < j:
			return -1
		}
		return 1
	}
	for _, c := range []int{
		by(slices.Concat(PrintedTables, otherTables), a.Table, b.Table),
		by(Configs, a.Config, b.Config), by(Workloads, a.Workload, b.Workload), by(Protocols, a.Protocol, b.Protocol),
	} {
		if c != 0 {
			return c
		}
	}
	return 0
}
