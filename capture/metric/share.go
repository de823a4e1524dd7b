package metric

import (
	"fmt"

	"sirdbed/capture/results"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// shareOf is the part of all payload received by the given hosts within a span
// that one of them received.
func shareOf(v *results.Variant, host topo.HostID, among []topo.HostID, from, to units.Time) (float64, error) {
	if len(among) == 0 {
		among = v.Fabric.Hosts
	}
	var own, all float64
	for _, h := range among {
		n, err := v.PayloadBetween(h, from, to)
		if err != nil {
			return 0, err
		}
		if all += n; h == host {
			own = n
		}
	}
	if all == 0 {
		return 0, fmt.Errorf("no payload arrived from %v to %v", from, to)
	}
	return own / all, nil
}
