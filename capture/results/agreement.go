package results

import (
	"sirdbed/capture"
	"sirdbed/topo/units"
)

// Agreement is how a port's sampled queue compares with the one rebuilt from
// its switch's capture.
type Agreement struct {
	Port       string  `json:"port"`
	Samples    int     `json:"samples"`           // compared
	MaxPackets int     `json:"max_diff_packets"`  // largest difference
	Mean       float64 `json:"mean_diff_packets"` // mean difference
	Within     int     `json:"within_two"`        // samples that differ by at most 2 packets
	WorstAt    int64   `json:"worst_at_ns"`
}

// Share is the share of the samples within two packets.
func (a *Agreement) Share() float64 {
	if a.Samples == 0 {
		return 1
	}
	return float64(a.Within) / float64(a.Samples)
}

// AgreeWithin is the difference, in packets, up to which a sample and the
// rebuilt queue agree: one packet that arrives and one that leaves while the
// sample is being read.
const AgreeWithin = 2

// Compare compares samples of a port's queue with the queue rebuilt from a
// capture, at the ticks within [from, to). A sample agrees with every depth
// that the rebuilt queue had while it was read, give or take tolerance; it differs
// by its distance to the nearest of them. A sample that equals the one before is
// not logged, so it may have been read at any time during its tick.
func (q *QueueLog) Compare(exact *capture.PortQueue, from, to, tolerance units.Time) Agreement {
	a := Agreement{Port: exact.Port.Name}
	if int(exact.Port.ID) >= len(q.Ports) {
		return a
	}
	samples := q.Ports[exact.Port.ID]
	var now QueueSample
	for i, tick := range q.Ticks {
		first, last := tick, q.swept[i]
		for len(samples) > 0 && samples[0].Tick <= i {
			now, samples = samples[0], samples[1:]
			if now.Tick == i {
				first, last = now.At, now.Until
			}
		}
		if tick < from || tick >= to {
			continue
		}
		least, most := exact.PacketsWithin(first-tolerance, last+tolerance)
		diff := max(least-int(now.Packets), int(now.Packets)-most, 0)
		a.Samples++
		a.Mean += float64(diff)
		if diff <= AgreeWithin {
			a.Within++
		}
		if diff > a.MaxPackets {
			a.MaxPackets, a.WorstAt = diff, int64(tick)
		}
	}
	if a.Samples > 0 {
		a.Mean /= float64(a.Samples)
	}
	return a
}
