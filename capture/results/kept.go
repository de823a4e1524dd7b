package results

import (
	"slices"

	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Kept makes a Variant of a summary that was kept, with its experiment and what a Fold has
// beside the summary: it has what a Folded variant has, less what summaries leave out.
func Kept(s *VariantSummary, x emu.Experiment, course *Course, curves Curves) (*Variant, error) {
	fabric, err := topo.New(x.Topology)
	if err != nil {
		return nil, err
	}
	v := &Variant{
		Name: s.Variant, Protocol: s.Protocol, Experiment: x, Fabric: fabric,
		From: units.Time(s.WindowFrom), To: units.Time(s.WindowTo), Counters: s.Counters,
		Latencies:   Latencies{Streams: slices.Clone(s.Streams), Latency: s.LatencyNS[AllSizes], Slowdown: s.Slowdown},
		OfferedGbps: s.OfferedGbps, Queue: s.QueueBytes,
		Verdict: Verdict{Level: s.Verdict, Reasons: s.Reasons, Checks: s.Checks}, Digest: s.Digest,
		Folded: true, Course: course, Curves: curves, gaugeMeans: s.Gauges, logs: &rawLogs{x: x, fabric: fabric},
	}
	v.Goodput = Goodput{Gbps: s.GoodputGbps, Hosts: s.GoodputBy, Source: s.GoodputSource}
	for h := range fabric.Hosts {
		bytes := s.GoodputBy[fabric.HostName(topo.HostID(h))] / 8 * float64(v.To-v.From)
		v.Goodput.bytes = append(v.Goodput.bytes, bytes)
		v.Goodput.Bytes += int64(bytes)
	}
	for i := range v.Latencies.Streams {
		st := &v.Latencies.Streams[i]
		v.MessageCount += st.Offered
	}
	for _, b := range s.GroupBorders {
		v.Borders = append(v.Borders, units.Bytes(b))
	}
	if s.Stability != nil {
		v.Stability = *s.Stability
	}
	return v, nil
}
