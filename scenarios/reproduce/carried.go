package reproduce

import (
	"fmt"
	"strings"

	"sirdbed/capture/points"
)

// leastCarried is the share of what is offered in a point's window that has to be received
// in it, or else the point is unstable.
const leastCarried = 0.95

// notCarried says why a point is unstable, "" if it is not: what is undelivered grew all
// over the second half of the run (results.Course), and in the window less was received
// than leastCarried of what was offered. The first alone is not enough: in the short windows
// of points with a third of the messages, what happens to be offered late looks like growth.
func notCarried(p *points.Point) string {
	c, why := p.Course, strings.Join(p.Result.UnstableReasons, "; ")
	switch {
	case !p.Result.Unstable:
		return ""
	case c == nil:
		return why
	}
	offered, received := 0.0, 0.0
	for i := int(p.Experiment.Warmup / c.Slice); i < min(len(c.Offered), len(c.Received)); i++ {
		offered += c.Offered[i]
		received += c.Received[i]
	}
	if received >= leastCarried*offered {
		return ""
	}
	return fmt.Sprintf("%s; %.0f %% of what was offered in the window was received in it", why, 100*received/offered)
}
