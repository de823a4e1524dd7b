package capture

import "sirdbed/topo/units"

// DepthsBy is Depths with windows of other sizes.
var DepthsBy = depthsBy

// Held returns depths that were held for so long.
func Held(held map[int64]units.Time) *PortDepths { return &PortDepths{held: held} }
