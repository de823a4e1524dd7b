package paper

// Grid returns the normalized table as rows, with its means.
func (n *Normalized) Grid() Table {
	t := Table{
		Title: titles[n.Table] + ", normalized", Left: 1,
		Note: "a, b, c: WKa, WKb, WKc. The best of each column has 1. Means and ranges leave out unstable cells.",
	}
	t.Header, t.Wide = tableHeader("protocol")
	more := []string{"mean", "range"}
	t.Header, t.Wide = append(t.Header, more...), append(t.Wide, more...)
	for _, r := range n.Rows {
		row := []string{r.Protocol}
		for _, c := range r.Cells {
			switch {
			case c.Unstable:
				row = append(row, "unst")
			case !c.Run:
				row = append(row, "-")
			default:
				row = append(row, fixed(c.Number))
			}
		}
		if r.Mean.Of > 0 {
			row = append(row, fixed(r.Mean.Mean), fixed(r.Mean.Range))
		} else {
			row = append(row, "-", "-")
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// inBoth returns the cells that have a number both here and in print: with the numbers here, and with the print's.
func inBoth(m *Measured) (here, print *Measured) {
	here, print = &Measured{Cells: map[Cell]Value{}}, &Measured{Cells: map[Cell]Value{}}
	for c, p := range Printed().Cells {
		if v, run := m.Cells[c]; run && !v.Unstable && !p.Unstable {
			here.Cells[c], print.Cells[c] = v, p
		}
	}
	return here, print
}

// MeansTable returns the ratios of means of the other protocols and SIRD for each
// printed table, here, and by the paper's numbers for the cells that were run here.
func MeansTable(m *Measured) Table {
	t := Table{
		Title: "Means over SIRD's", Left: 2,
		Header: []string{"table", "protocol", "normalized", "normalized, paper", "raw", "raw, paper", "common",
			"common, paper", "both", "both, paper"},
		Note: "Ratios of means: of the normalized table, of the table itself, of the latter over the cells in " +
			"which both protocols have a number, and of the former over the same. Only cells with a number both here " +
			"and in print count, so where some are missing, the \"paper\" columns differ from the paper's own means.",
	}
	both, printed := inBoth(m)
	for _, table := range PrintedTables {
		here, print := Normalize(both, table), Normalize(printed, table)
		for _, p := range both.protocols(table) {
			a, known := here.RatiosOf(p, "sird")
			if p == "sird" || !known {
				continue
			}
			row := []string{table, p, digits(a.Normalized), "-", digits(a.Raw), "-", digits(a.Common), "-",
				digits(a.Both), "-"}
			if b, known := print.RatiosOf(p, "sird"); known {
				row[3], row[5], row[7], row[9] = digits(b.Normalized), digits(b.Raw), digits(b.Common), digits(b.Both)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
