package results

import (
	"fmt"
	"math"
	"slices"

	"sirdbed/capture/stats"
	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// courseSlices is into how many parts a Course cuts a run.
const courseSlices = 40

// A Course is how a run went, from 0 to the end of the window, in parts of equal length:
// what was offered and received, what waited in the leaves, and what protocols showed.
type Course struct {
	Slice units.Time `json:"slice_ns"` // length of a part
	// By part: payload in bytes, and the leaves' queues (the sum over a leaf's ports) as
	// sampled: the deepest, and the mean over leaves and time.
	Offered   []float64 `json:"offered_bytes"`
	Received  []float64 `json:"received_bytes"`
	QueueMax  []float64 `json:"leaf_queue_max_bytes"`
	QueueMean []float64 `json:"leaf_queue_mean_bytes"`
	// Gauges are, by name and part, the mean over the part of the sum over hosts, in the
	// gauge's own unit; a list ends before a part in which a host has no sample. Hosts are
	// the single hosts by name, of fabrics of a few.
	Gauges map[string][]float64  `json:"gauges,omitempty"`
	Hosts  map[string]HostCourse `json:"hosts,omitempty"`
}

// course makes a Course while a run goes on.
type course struct {
	Course
	fabric  *topo.Fabric
	to      units.Time
	got     map[topo.HostID][]float64 // by host and part: its payload gauge at the last sample in it
	gauges  map[string][]*partMeans   // by name and host
	sampled []int                     // by part: samples of queues

	bytes, squares float64 // sums of messages' sizes, and of their squares
}

func newCourse(x *emu.Experiment, fabric *topo.Fabric) *course {
	_, to := x.Window()
	c := &course{
		fabric: fabric, to: to, got: map[topo.HostID][]float64{}, gauges: map[string][]*partMeans{},
		sampled: make([]int, courseSlices),
	}
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
		c.bytes += float64(bytes)
		c.squares += float64(bytes) * float64(bytes)
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

// A switch's queue has grown without bound if it has reached this many BDPs of each of its
// hosts, and was deeper in each of the last parts than in the one before. The deepest queue
// that the paper prints, 21 MB of a leaf with 16 hosts, has 13.
const (
	unboundedBDPs  = 100
	unboundedParts = 4
)

// unbounded says how far a leaf's queue has grown without bound, "" if none has.
func (c *course) unbounded(f *topo.Fabric) string {
	limit := float64(unboundedBDPs*f.Spec.HostsPerLeaf) * float64(f.BDP())
	last := 0
	for i, n := range c.sampled {
		if n > 0 {
			last = i
		}
	}
	if last < unboundedParts || c.QueueMax[last] < limit {
		return ""
	}
	for i := last - unboundedParts + 1; i <= last; i++ {
		if c.QueueMax[i] <= c.QueueMax[i-1] {
			return ""
		}
	}
	return fmt.Sprintf("a leaf's queue grew to %.0f MB by %v, and went on growing", c.QueueMax[last]/1e6,
		units.Time(last+1)*c.Slice)
}

// QueuesGrow says how the leaves' queues grew all over the second half of a run, as they do
// where a protocol cannot keep them; "" if they did not: their mean in each of its last two
// quarters is at least growingBy that in the quarter before, and 1 MB.
func (c *Course) QueuesGrow() string {
	if len(c.QueueMean) < courseSlices {
		return ""
	}
	var quarters [3]float64
	for i := range quarters {
		quarters[i] = stats.Mean(c.QueueMean[courseSlices*(i+1)/4 : courseSlices*(i+2)/4])
	}
	const growingBy, least = 1.2, 1e6
	if quarters[2] < least || quarters[1] < growingBy*quarters[0] || quarters[2] < growingBy*quarters[1] {
		return ""
	}
	return fmt.Sprintf("the leaves' mean queue grew from %.1f over %.1f to %.1f MB in the last quarters of the run",
		quarters[0]/1e6, quarters[1]/1e6, quarters[2]/1e6)
}

// result is the course up to a time: where the run ended early, parts are left out.
func (c *course) result(to units.Time) *Course {
	n := min(int((to+c.Slice-1)/c.Slice), courseSlices)
	r := c.Course
	if len(c.fabric.Hosts) <= courseHosts {
		r.Hosts = map[string]HostCourse{}
	}
	for h := range c.fabric.Hosts {
		received := c.receivedBy(topo.HostID(h))
		for i, bytes := range received {
			r.Received[i] += bytes
		}
		if r.Hosts != nil {
			r.Hosts[c.fabric.HostName(topo.HostID(h))] = HostCourse{received[:n], map[string][]float64{}}
		}
	}
	for i := range n {
		r.QueueMean[i] /= float64(max(c.sampled[i], 1))
	}
	r.Offered, r.Received = r.Offered[:n], r.Received[:n]
	r.QueueMax, r.QueueMean = r.QueueMax[:n], r.QueueMean[:n]
	c.addGauges(&r, n)
	return &r
}

// receivedBy is the payload that a host received in each part.
func (c *course) receivedBy(h topo.HostID) []float64 {
	list, before := make([]float64, courseSlices), 0.0
	for i, n := range c.got[h] {
		n = max(n, before) // no sample in this part
		list[i] = n - before
		before = n
	}
	return list
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
// growthLimit of what is offered in it, and by more than chance makes it. By chance each
// host has one message more or less under way, of the size that a byte's message has on
// average; growthSigmas of such deviations are not chance. Where they are more than
// growthMost of what is offered, a run that grows by less is not judged.
const (
	growthLimit  = 0.05
	growthMost   = 0.25
	growthSigmas = 3
)

// growth judges a Course.
func (l *rawLogs) growth(c *course, r *Course) Stability {
	s := Stability{Applies: slices.ContainsFunc(l.x.Streams,
		func(st traffic.Stream) bool { return st.Pattern == traffic.PatternPoisson })}
	if !s.Applies {
		return s
	}
	if len(r.Offered) < courseSlices || l.x.GaugeEvery <= 0 || l.x.GaugeEvery > c.Slice {
		s.Why = "the run ended early, or its gauges were not sampled in each fortieth of it"
		return s
	}
	left := r.Undelivered()
	third, last := stats.Mean(left[courseSlices/2:courseSlices*3/4]), stats.Mean(left[courseSlices*3/4:])
	offered := 0.0
	for _, n := range r.Offered[courseSlices/2:] {
		offered += n
	}
	if offered == 0 {
		s.Why = "nothing was offered in the second half of the run"
		return s
	}
	chance := math.Sqrt(float64(len(l.hosts))) * c.squares / max(c.bytes, 1)
	s.Undelivered, s.Margin = left[len(left)-1], max(growthLimit, growthSigmas*chance/offered)
	// From the middle of the third quarter to that of the fourth is half of the half.
	grown := 2 * (last - third) / offered
	switch {
	case grown > s.Margin:
		s.Known, s.Unstable, s.Carried = true, true, 1-grown
		s.Reasons = append(s.Reasons, fmt.Sprintf(
			"in the second half of the run what is undelivered grew by %.0f %% of what was offered", 100*grown))
	case s.Margin > growthMost:
		s.Why = fmt.Sprintf("the run is too short: by chance alone, what is undelivered may grow by %.0f %% of what "+
			"is offered", 100*s.Margin)
	default:
		s.Known = true
	}
	return s
}
