package paper

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"sync"
)

// The data of the paper. They are in the program, so what is wrong with them is a
// mistake of ours: reading them panics then. They are read when they are first asked for,
// since most of the program's processes never do.
var (
	//go:embed data/printed.csv
	printedCSV []byte
	//go:embed data/values.csv
	valuesCSV []byte
	//go:embed data/asics.csv
	asicsCSV []byte
)

// A Print is one of the 162 numbers of the appendix.
type Print struct {
	Cell     Cell    `json:"cell"`
	Number   float64 `json:"number"` // as printed, rounded to 0.01
	Unstable bool    `json:"unstable,omitempty"`
	// What the number was before it was rounded: from Low to High, by this table and by the normalized one, in which
	// the smallest queues have more digits.
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Normalized float64 `json:"normalized"` // as printed: the best protocol of a configuration and workload has 1
	// Why the number is doubted: of which other cell it is a copy, to the last digit. Empty: it is not.
	Suspect string `json:"suspect,omitempty"`
}

// prints are those of printed.csv, in its order: table, configuration, workload,
// protocol.
var prints = sync.OnceValue(func() (list []Print) {
	eachRecord("printed.csv", printedCSV, func(r record) {
		p := Print{
			Cell: Cell{
				Table: r.text("table"), Config: r.text("config"),
				Workload: r.text("workload"), Protocol: r.text("protocol"),
			},
			Suspect: r.text("suspect"), Unstable: r.text("value") == "unstable",
		}
		if !p.Unstable {
			p.Number, p.Low, p.High = r.number("value"), r.number("low"), r.number("high")
			p.Normalized = r.number("normalized")
		}
		list = append(list, p)
	})
	return list
})

// printOf returns what the paper printed for a cell.
func printOf(c Cell) (Print, bool) {
	for _, p := range prints() {
		if p.Cell == c {
			return p, true
		}
	}
	return Print{}, false
}

// Printed returns the paper's numbers as if they had been measured here: what a
// Measured that agrees in all is like.
func Printed() *Measured {
	m := &Measured{Cells: map[Cell]Value{}}
	for _, p := range prints() {
		m.Cells[p.Cell] = Value{Number: p.Number, Unstable: p.Unstable}
	}
	return m
}

// A record is a line of a CSV file, by the names in its header.
type record struct {
	file   string
	fields map[string]string
}

func (r record) text(name string) string {
	text, ok := r.fields[name]
	if !ok {
		panic(fmt.Sprintf("%s has no column %s", r.file, name))
	}
	return text
}

func (r record) number(name string) float64 {
	x, err := strconv.ParseFloat(r.text(name), 64)
	if err != nil {
		panic(fmt.Sprintf("%s, column %s: %v", r.file, name, err))
	}
	return x
}

// eachRecord calls visit for each line of a CSV file of the program but its header.
func eachRecord(file string, text []byte, visit func(record)) {
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("%s: %v", file, err))
	}
	for _, line := range lines[1:] {
		r := record{file: file, fields: map[string]string{}}
		for i, name := range lines[0] {
			r.fields[name] = line[i]
		}
		visit(r)
	}
}
