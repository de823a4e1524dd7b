//go:build linux

package real

import (
	"fmt"
	"time"

	"sirdbed/emu/fabric/port"
	"sirdbed/topo/units"
)

// What a run does for its own sake, gauges and samples of queues, takes processors
// from what it measures. So neither is done more often than these say, by the
// kernel's clock, whatever the scenario asks for; and what is late is done once, not
// made up for. By a virtual clock nothing takes time.
const (
	leastInterval        = 2 * time.Millisecond
	leastIntervalVirtual = 200 * time.Microsecond
	// sweepShare is the largest share of one processor that sampling queues takes.
	sweepShare = 0.02
	// sweeps is of how many the fastest is what one takes.
	sweeps = 5
)

// gaugeInterval is how often hosts read their gauges; 0: never.
func (r *run) gaugeInterval() units.Time {
	if r.x.GaugeEvery <= 0 || r.exact() {
		return r.x.GaugeEvery
	}
	return max(r.x.GaugeEvery, r.nominal(leastInterval))
}

// queueInterval is how often the queues of switches are sampled.
func (r *run) queueInterval() (units.Time, error) {
	if r.exact() {
		return max(r.x.QueueEvery, r.nominal(leastIntervalVirtual)), nil
	}
	sweep, err := r.sweepTime()
	if err != nil {
		return 0, err
	}
	least := max(leastInterval, time.Duration(float64(sweep)/sweepShare))
	return max(r.x.QueueEvery, r.nominal(least)), nil
}

// sweepTime is how long it takes to read the queues of all switches once.
func (r *run) sweepTime() (time.Duration, error) {
	stats := make([]port.Stats, len(r.topology.Ports))
	best := time.Hour
	for range sweeps {
		since := time.Now()
		if err := r.fabric.Sample(stats); err != nil {
			return 0, fmt.Errorf("sampling queues: %w", err)
		}
		best = min(best, time.Since(since))
	}
	return best, nil
}

// nominal is a span of the kernel's clock in nominal time.
func (r *run) nominal(d time.Duration) units.Time { return r.facts.Dilation.ToNominal(d.Nanoseconds()) }

// exact reports whether nothing takes time by the kernel's clock.
func (r *run) exact() bool { return r.machine.Exact() }
