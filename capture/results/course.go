package results

import (
	"fmt"
	"slices"

	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// courseSlices is into how many parts a Course cuts a run.
const courseSlices = 40

// A Course is how a run went, from 0 to the end of the window, in parts of equal length:
// what was offered and received, and what waited in the leaves.
type Course struct {
	Slice units.Time `json:"slice_ns"` // length of a part
	// By part: payload in bytes, and the leaves' queues (the sum over a leaf's ports) as
	// sampled: the deepest, and the mean over leaves and time.
	Offered   []float64 `json:"offered_bytes"`
	Received  []float64 `json:"received_bytes"`
	QueueMax  []float64 `json:"leaf_queue_max_bytes"`
	QueueMean []float64 `json:"leaf_queue_mean_bytes"`
}

// course makes a Course while a run goes on.
type course struct {
	Course
	to      units.Time
	got     map[topo.HostID][]float64 // by host and part: its payload gauge at the last sample in it
	sampled []int                     // by part: samples of queues
}

func newCourse(x *emu.Experiment) *course {
	_, to := x.Window()
	c := &course{to: to, got: map[topo.HostID][]float64{}, sampled: make([]int, courseSlices)}
	c.Slice = max(1, (to+courseSlices-1)/courseSlices)
	for _, part := range []*[]float64{&c.Offered, &c.Received, &c.QueueMax, &c.QueueMean} {
		*part = make([]float64, courseSlices)
	}
	return c
}

// part is the part that a time lies in.
func (c *course) part(at units.Time) (int, bool) {
	if at < 0 || at >= c.to {
		return 0, false
	}
	return int(at / c.Slice), true
}

func (c *course) offer(at units.Time, bytes int64) {
	if i, ok := c.part(at); ok {
		c.Offered[i] += float64(bytes)
	}
}

// received takes a host's count of payload so far.
func (c *course) received(h topo.HostID, at units.Time, payload float64) {
	i, ok := c.part(at)
	if !ok {
		return
	}
	if c.got[h] == nil {
		c.got[h] = make([]float64, courseSlices)
	}
	c.got[h][i] = max(c.got[h][i], payload)
}

func (c *course) queues(at units.Time, deepest int64, mean float64) {
	if i, ok := c.part(at); ok {
		c.QueueMax[i] = max(c.QueueMax[i], float64(deepest))
		c.QueueMean[i] += mean
		c.sampled[i]++
	}
}

// result is the course up to a time: where the run ended early, parts are left out.
func (c *course) result(to units.Time) *Course {
	for h := range c.got {
		before := 0.0
		for i, n := range c.got[h] {
			n = max(n, before) // no sample in this part
			c.Received[i] += n - before
			before = n
		}
	}
	n := min(int((to+c.Slice-1)/c.Slice), courseSlices)
	r := c.Course
	for i := range n {
		r.QueueMean[i] /= float64(max(c.sampled[i], 1))
	}
	r.Offered, r.Received = r.Offered[:n], r.Received[:n]
	r.QueueMax, r.QueueMean = r.QueueMax[:n], r.QueueMean[:n]
	return &r
}

// Undelivered is the payload that was offered and not received by the end of each part.
func (c *Course) Undelivered() []float64 {
	list, sum := make([]float64, len(c.Offered)), 0.0
	for i := range c.Offered {
		sum += c.Offered[i] - c.Received[i]
		list[i] = max(0, sum)
	}
	return list
}

// The rule for "unstable" of folded runs, which have no list of messages that a reference
// could carry: what is undelivered grows all over the second half of the run, by more than
// a share of what is offered in it. Less can be chance: one message of 28 MB more or less a
// host.
const growthLimit = 0.05

// growth judges a Course.
func (l *rawLogs) growth(c *Course) Stability {
	s := Stability{Applies: slices.ContainsFunc(l.x.Streams,
		func(st traffic.Stream) bool { return st.Pattern == traffic.PatternPoisson })}
	if !s.Applies {
		return s
	}
	if len(c.Offered) < courseSlices || l.x.GaugeEvery <= 0 || l.x.GaugeEvery > c.Slice {
		s.Why = "the run ended early, or its gauges were not sampled in each fortieth of it"
		return s
	}
	s.Known = true
	left := c.Undelivered()
	third, last := mean(left[courseSlices/2:courseSlices*3/4]), mean(left[courseSlices*3/4:])
	offered := 0.0
	for _, n := range c.Offered[courseSlices/2:] {
		offered += n
	}
	s.Undelivered, s.Margin = left[len(left)-1], growthLimit
	// From the middle of the third quarter to that of the fourth is half of the half.
	if grown := 2 * (last - third); grown > growthLimit*offered {
		s.Unstable = true
		s.Carried = 1 - grown/offered
		s.Reasons = append(s.Reasons, fmt.Sprintf(
			"in the second half of the run what is undelivered grew by %.0f %% of what was offered", 100*grown/offered))
	}
	return s
}

func mean(list []float64) (sum float64) {
	for _, v := range list {
		sum += v / float64(len(list))
	}
	return sum
}
