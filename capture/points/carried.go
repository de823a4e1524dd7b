package points

import (
	"cmp"
	"fmt"
	"strings"

	"sirdbed/capture/stats"
)

// leastCarried is the share of what is offered in a point's window that has to be received
// in it, or else the point is unstable.
const leastCarried = 0.95

// NotCarried says why a point is unstable, "" if it is not: what is undelivered grew all
// over the second half of the run (results.Course), and in the window less was received
// than leastCarried of what was offered; or the run was ended since a queue grew. The first
// alone is not enough: in the short windows of points with a third of the messages, what
// happens to be offered late looks like growth. Of a point without its course, such as a
// run's variant, the window's means are taken.
func (p *Point) NotCarried() string {
	if p.Unbounded != "" || !p.Result.Unstable {
		return p.Unbounded
	}
	offered, received := p.Result.OfferedGbps, p.Result.GoodputGbps
	if c := p.Course; c != nil {
		offered, received = 0, 0
		for i := int(p.Experiment.Warmup / c.Slice); i < min(len(c.Offered), len(c.Received)); i++ {
			offered += c.Offered[i]
			received += c.Received[i]
		}
	}
	why := cmp.Or(strings.Join(p.Result.UnstableReasons, "; "), "what is undelivered grows")
	switch {
	case offered == 0: // not known
		return why
	case received >= leastCarried*offered:
		return ""
	}
	return fmt.Sprintf("%s; %.0f %% of what was offered in the window was received in it", why, 100*received/offered)
}

// Goodput is what a point received, in Gbps a host: in its window, or in the last whole parts of
// its course if it was ended before that began.
func (p *Point) Goodput() float64 {
	c := p.Course
	if p.Unbounded == "" || p.Result.GoodputGbps > 0 || c == nil {
		return p.Result.GoodputGbps
	}
	begin, end := p.lastParts()
	return 8 * stats.Mean(c.Received[begin:end]) / float64(c.Slice) / p.hosts()
}

// Completed is the sum of the sizes of the messages that were delivered in full in the point's window,
// incast messages and replies included, in Gbps a host; 0 if it was ended before the window.
func (p *Point) Completed() float64 {
	sum := 0.0
	for i := range p.Result.Streams {
		sum += p.Result.Streams[i].DeliveredGbps
	}
	return sum / p.hosts()
}

// hosts is how many the fabric has; 1 where that is not known.
func (p *Point) hosts() float64 {
	return float64(max(1, p.Experiment.Topology.Leaves*p.Experiment.Topology.HostsPerLeaf))
}

// lastParts are the parts of its course, up to four, that tell how a point was when it was ended.
// The part in which it was ended is no whole one.
func (p *Point) lastParts() (begin, end int) {
	received := p.Course.Received
	end = len(received)
	for end > 0 && received[end-1] == 0 {
		end--
	}
	end = max(0, end-1)
	return max(0, end-4), end
}
