package paper

import (
	"slices"
	"sync"
)

// A Stated is a number that the paper prints in a figure or its text, other than
// those of the appendix's tables.
type Stated struct {
	ID     string
	Source string // section or figure
	What   string
	Number float64
	// "times", "% more", "% less" of what is compared, "%" of a whole; else a unit such as MB, Gbps, us, or BDP: the
	// BDP is 216 KB in section 6.1, and 100 KB elsewhere.
	Unit string
}

var stated = sync.OnceValue(func() (list []Stated) {
	eachRecord("values.csv", valuesCSV, func(r record) {
		list = append(list, Stated{
			ID: r.text("id"), Source: r.text("source"), What: r.text("what"),
			Number: r.number("value"), Unit: r.text("unit"),
		})
	})
	return list
})

// value returns a stated number by its id.
func value(id string) (Stated, bool) {
	i := slices.IndexFunc(stated(), func(s Stated) bool { return s.ID == id })
	if i < 0 {
		return Stated{}, false
	}
	return stated()[i], true
}

// measure is the number as checks compare it: shares and ratios of 1, others in
// their unit.
func (s Stated) measure() float64 {
	switch s.Unit {
	case "% more":
		return 1 + s.Number/100
	case "% less":
		return 1 - s.Number/100
	case "%":
		return s.Number / 100
	}
	return s.Number
}

// An ASIC is a switch chip, or a switch named for its chip.
type ASIC struct {
	Vendor        string
	Model         string
	BisectionTbps float64
	BufferMB      float64 // 10^6 bytes
}

// MBPerTbps is the buffer for each Tbps of bisection bandwidth. A ToR of the
// paper's has 3.2 Tbps: 16 links of 100 Gbps and 4 of 400.
func (a ASIC) MBPerTbps() float64 { return a.BufferMB / a.BisectionTbps }

var asics = sync.OnceValue(func() (list []ASIC) {
	eachRecord("asics.csv", asicsCSV, func(r record) {
		list = append(list, ASIC{
			Vendor: r.text("vendor"), Model: r.text("model"), BisectionTbps: r.number("bisection_tbps"),
			BufferMB: r.number("buffer_mb"),
		})
	})
	return list
})

// ASICs returns the paper's table of switch chips, in its order.
func ASICs() []ASIC { return slices.Clone(asics()) }

// asic returns a chip by its model.
func asic(model string) (ASIC, bool) {
	i := slices.IndexFunc(asics(), func(a ASIC) bool { return a.Model == model })
	if i < 0 {
		return ASIC{}, false
	}
	return asics()[i], true
}
