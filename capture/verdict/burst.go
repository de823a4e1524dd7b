package verdict

import (
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// burst is what a port may send at once by the engine's word, in wire bytes:
// bytes as such, or a time of the machine's clock for which it may make good.
func (j *judge) burst(p *topo.Port) units.Bytes {
	if j.v.Facts == nil {
		return 0
	}
	f := &j.v.Facts.Features
	if f.Burst > 0 {
		return f.Burst
	}
	return p.Rate.BytesIn(max(1, j.v.Facts.Dilation).ToNominal(int64(f.BurstTime)))
}
