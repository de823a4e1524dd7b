package paper

import (
	"math"
	"testing"
)

// The paper's ratios follow from its printed numbers, as ratios of means of the
// normalized table, but for one, which is of the queues that both protocols have. The
// paper rounds them.
func TestStatedRatiosFollowFromThePrint(t *testing.T) {
	for _, tc := range []struct {
		id       string // of the stated number
		table    string
		of, over string
		take     func(Ratios) float64
		scale    func(ratio float64) float64 // to the stated number's unit
		want     float64                     // before rounding
	}{
		{"homa-peak-queue", MaxTorQueue, "homa", "sird", normalized, times, 12.2},
		{"dcpim-goodput", MaxGoodput, "sird", "dcpim", normalized, more, 9.4},
		{"dcpim-queue", MaxTorQueue, "sird", "dcpim", normalized, less, 42.8},
		{"dcpim-slowdown", P99Slowdown, "sird", "dcpim", normalized, less, 46.0},
		{"xpass-slowdown", P99Slowdown, "xpass", "sird", normalized, times, 9.9},
		{"xpass-goodput", MaxGoodput, "sird", "xpass", normalized, more, 26.7}, // 0.97 over 0.77 is 26.0
		{"xpass-queue", MaxTorQueue, "xpass", "sird", common, less, 88.7},
	} {
		t.Run(tc.id, func(t *testing.T) {
			ratios, known := Normalize(Printed(), tc.table).RatiosOf(tc.of, tc.over)
			if !known {
				t.Fatal("not known")
			}
			got := tc.scale(tc.take(ratios))
			if math.Abs(got-tc.want) > 0.05 {
				t.Errorf("got %.3f, want %v: %+v", got, tc.want, ratios)
			}
			// Checks are by the cells that both have, which for this says nothing else.
			if same := tc.scale(ratios.Both); tc.id != "xpass-queue" && math.Abs(same-got) > 0.3 {
				t.Errorf("over cells that both have: %.3f instead of %.3f", same, got)
			}
			stated, _ := value(tc.id)
			if math.Abs(got-stated.Number) > 1 {
				t.Errorf("got %.3f, and the paper states %v %s", got, stated.Number, stated.Unit)
			}
		})
	}
}

func normalized(r Ratios) float64 { return r.Normalized }
func common(r Ratios) float64     { return r.Common }
func times(x float64) float64     { return x }
func more(x float64) float64      { return 100 * (x - 1) }
func less(x float64) float64      { return 100 * (1 - x) }

func TestHomaOverSIRDQueueingIsStatedOfNormalizedMeans(t *testing.T) {
	ratios, _ := Normalize(Printed(), MaxTorQueue).RatiosOf("homa", "sird")
	if math.Abs(ratios.Normalized-12.2) > 0.05 || math.Abs(ratios.Raw-11.1) > 0.05 ||
		math.Abs(ratios.Both-ratios.Normalized) > 1e-9 { // both have a number everywhere
		t.Errorf("normalized %.2f, over both %.2f, raw %.2f; want 12.2 twice and 11.1", ratios.Normalized, ratios.Both,
			ratios.Raw)
	}
}

// Normalizing the printed table gives the printed normalized one, as near as the
// rounding of the cells lets it.
func TestNormalizingThePrintGivesTheNormalizedPrint(t *testing.T) {
	tables := map[string]*Normalized{}
	for _, table := range PrintedTables {
		tables[table] = Normalize(Printed(), table)
	}
	for _, p := range prints() {
		c := p.Cell
		got := tables[c.Table].row(c.Protocol).Cells[column(c.Config, c.Workload)]
		if got.Unstable != p.Unstable || !got.Run {
			t.Errorf("%s: got %+v, want unstable %v", c, got, p.Unstable)
			continue
		}
		best := p.Number / p.Normalized // of the column, roughly
		if p.Unstable || math.Abs(got.Number-p.Normalized) <= 0.006+got.Number*(0.005/best+0.005/p.Number) {
			continue
		}
		t.Errorf("%s: got %.3f, want %v", c, got.Number, p.Normalized)
	}
}

func TestNormalizeWhatIsMissingOrZero(t *testing.T) {
	cell := func(table, protocol string) Cell { return Cell{table, "core", "wkb", protocol} }
	i := column("core", "wkb")
	t.Run("unstable ones are left out", func(t *testing.T) {
		n := Normalize(&Measured{Cells: map[Cell]Value{
			cell(P99Slowdown, "homa"): {Unstable: true}, cell(P99Slowdown, "sird"): {Number: 2},
			cell(P99Slowdown, "mine"): {Number: 4},
		}}, P99Slowdown)
		var order []string
		for _, r := range n.Rows {
			order = append(order, r.Protocol)
		}
		if len(order) != 3 || order[0] != "sird" || order[1] != "homa" || order[2] != "mine" {
			t.Errorf("rows of %v, want sird, homa, mine", order)
		}
		got := n.row("mine")
		if got.Cells[i].Number != 2 || got.Mean.Mean != 2 || got.Mean.Of != 1 || got.RawMean.Mean != 4 {
			t.Errorf("got %+v", got)
		}
		if got := n.row("homa"); got.Mean.Of != 0 || got.Cells[i].hasNumber() {
			t.Errorf("got %+v", got)
		}
		if _, known := n.RatiosOf("sird", "homa"); known {
			t.Error("the ratio to what is unstable is known")
		}
	})
	t.Run("an empty queue is one frame deep", func(t *testing.T) {
		n := Normalize(&Measured{Cells: map[Cell]Value{
			cell(MaxTorQueue, "xpass"): {}, cell(MaxTorQueue, "sird"): {Number: 0.84},
		}}, MaxTorQueue)
		if got := n.row("sird").Cells[i].Number; math.Abs(got-10_000) > 1e-6 {
			t.Errorf("got %v, want 10000", got)
		}
		if ratios, known := n.RatiosOf("sird", "xpass"); known {
			t.Errorf("over nothing: %+v", ratios)
		}
	})
	t.Run("a column that carries nothing has no numbers", func(t *testing.T) {
		n := Normalize(&Measured{Cells: map[Cell]Value{
			cell(MaxGoodput, "sird"): {}, cell(MaxGoodput, "homa"): {},
		}}, MaxGoodput)
		if got := n.row("sird"); got.Mean.Of != 0 || got.Cells[i].Number != 0 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("nothing at all", func(t *testing.T) {
		if n := Normalize(&Measured{}, MaxGoodput); len(n.Rows) != 0 {
			t.Errorf("got %+v", n)
		}
	})
}
