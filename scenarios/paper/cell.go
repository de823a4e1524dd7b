// Package paper has what the SIRD paper (NSDI '25) printed of its evaluation: the
// numbers of its appendix, those of its figures and text, and what it claims in words. It
// compares measured figures with them. It knows nothing of engines, or of how
// results are stored: figures come in as a Measured, and rows of tables go out.
//
// All is data and functions of it: any number of goroutines may call them at once,
// as long as nobody changes what is passed in.
package paper

import (
	"fmt"
	"math"
	"slices"
)

// The tables, each a figure of a cell. The paper prints the first three in its
// appendix, and the last as a figure only. MaxCompleted is MaxGoodput by another definition.
const (
	P99Slowdown  = "p99_slowdown"       // of all messages at 50 % load, a ratio
	MaxGoodput   = "max_goodput_gbps"   // payload received per host, the most of all loads, Gbps
	MaxTorQueue  = "max_tor_queue_mb"   // of any leaf, the deepest of all loads, MB (10^6 bytes)
	MaxCompleted = "max_completed_gbps" // sizes of messages completed per host, the most of all loads, Gbps
	MeanTorQueue = "mean_tor_queue_mb"  // over leaves and time, the most of all loads, MB
)

// The names that cells are made of, in the order of tables.
var (
	PrintedTables = []string{P99Slowdown, MaxGoodput, MaxTorQueue}
	otherTables   = []string{MaxCompleted, MeanTorQueue}
	Configs       = []string{"balanced", "core", "incast"}
	Workloads     = []string{"wka", "wkb", "wkc"}
	Protocols     = []string{"sird", "homa", "dcpim", "xpass", "swift", "dctcp"} // the paper's
)

// A Cell names one number of a table. A protocol may be one that the paper does
// not have.
type Cell struct {
	Table    string `json:"table"`
	Config   string `json:"config"`
	Workload string `json:"workload"`
	Protocol string `json:"protocol"`
}

// String is the cell's name as a quantity: PROTOCOL/CONFIG/WORKLOAD/TABLE.
func (c Cell) String() string {
	return c.Protocol + "/" + c.Config + "/" + c.Workload + "/" + c.Table
}

// check returns what is wrong with the cell's names, but for its protocol, which
// may be a user's own.
func (c Cell) check() error {
	switch {
	case !slices.Contains(PrintedTables, c.Table) && !slices.Contains(otherTables, c.Table):
		return fmt.Errorf("no table is called %q", c.Table)
	case !slices.Contains(Configs, c.Config):
		return fmt.Errorf("no configuration is called %q", c.Config)
	case !slices.Contains(Workloads, c.Workload):
		return fmt.Errorf("no workload is called %q", c.Workload)
	case !isWord(c.Protocol):
		return fmt.Errorf("%q cannot be a protocol's name", c.Protocol)
	}
	return nil
}

// column is the place of a configuration and workload among the nine of a table.
func column(config, workload string) int {
	return slices.Index(Configs, config)*len(Workloads) + slices.Index(Workloads, workload)
}

// columns is how many there are.
const columns = 9

// eachColumn calls visit for the nine pairs of configuration and workload, in the
// order of tables.
func eachColumn(visit func(i int, config, workload string)) {
	for _, c := range Configs {
		for _, w := range Workloads {
			visit(column(c, w), c, w)
		}
	}
}

// A Value is what was measured for a cell or a quantity, in its unit.
type Value struct {
	// Of several seeds the median, or the number of the one that has more messages than the others.
	Number float64 `json:"number"`
	// What was to be measured has no value since the protocol did not carry the load, or a queue grew without
	// end. A goodput never is: what is carried is its number.
	Unstable bool      `json:"unstable,omitempty"`
	Why      string    `json:"why,omitempty"`   // in words: what was seen that makes it unstable
	Seeds    []float64 `json:"seeds,omitempty"` // of each seed, in any order
}

// Spread is the largest of the seeds' numbers less the smallest, as a share of
// Number. It is known if there are two seeds at least, and Number is not 0.
func (v Value) Spread() (share float64, known bool) {
	if len(v.Seeds) < 2 || v.Number == 0 {
		return 0, false
	}
	return (slices.Max(v.Seeds) - slices.Min(v.Seeds)) / math.Abs(v.Number), true
}

// check returns what is wrong with the value.
func (v Value) check() error {
	for _, x := range append([]float64{v.Number}, v.Seeds...) {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return fmt.Errorf("%v is not a finite number of 0 or more", x)
		}
	}
	return nil
}

// higherIsBetter reports whether more of a table's figure is better.
func higherIsBetter(table string) bool { return table == MaxGoodput || table == MaxCompleted }

// better reports whether a is the better of two values of a table. An unstable one
// is worse than any number; of two neither is better.
func better(table string, a, b Value) bool {
	switch {
	case a.Unstable || b.Unstable:
		return !a.Unstable
	case higherIsBetter(table):
		return a.Number > b.Number
	}
	return a.Number < b.Number
}
