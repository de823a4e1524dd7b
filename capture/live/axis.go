package live

import (
	"math"

	"sirdbed/emu"
	"sirdbed/topo/units"
)

var nan = math.NaN()

// An axis is nominal time in columns of one width.
type axis struct {
	width units.Time
	n     int
}

// Columns of a run's traffic, and at most with what comes after it.
const (
	trafficColumns = 200
	maxColumns     = 300
)

// newAxis is the axis of an experiment. No column is narrower than the time between two
// samples, which would leave some without any.
func newAxis(x *emu.Experiment) axis {
	_, to := x.Window()
	a := axis{width: max(1, (to+trafficColumns-1)/trafficColumns, x.GaugeEvery, x.QueueEvery)}
	a.n = int(max(1, min(maxColumns, (x.End()+a.width-1)/a.width)))
	return a
}

// of is the index of a time's column. It may be beyond the last.
func (a axis) of(t units.Time) int { return int(max(0, t) / a.width) }

// begin is the time at which a column begins.
func (a axis) begin(i int) units.Time { return units.Time(i) * a.width }
