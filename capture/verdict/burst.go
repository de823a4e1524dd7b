package verdict

import (
	"time"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// burst is what a port may send at once by the engine's word, in wire bytes:
// bytes as such, or a time of the machine's clock for which it may make good.
func (j *judge) burst(p *topo.Port) units.Bytes {
	if j.v.Facts == nil {
		return 0
	}
	if b, err := units.ParseBytes(j.v.Facts.Features["burst"]); err == nil {
		return b
	}
	if late, err := time.ParseDuration(j.v.Facts.Features["burst_time"]); err == nil {
		return p.Rate.BytesIn(units.Time(late.Nanoseconds() / max(1, j.v.Facts.Dilation)))
	}
	return 0
}
