package results

import (
	"math"

	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// offeredShare is the payload that streams offer to the link for which it is the
// most while all of them are on, as a share of its rate: hosts' links, and racks' to
// the spines. Streams without a rate, outcast and list, do not count. even reports
// whether the links of each kind that are offered something are all offered as much.
func offeredShare(f *topo.Fabric, streams []traffic.Stream) (most float64, even bool, err error) {
	offered, err := traffic.OfferedLoad(f, streams)
	if err != nil {
		return 0, false, err
	}
	links := newBudgets(f)
	for i := range links.left {
		clear(links.left[i]) // here: bytes by ns that are offered
	}
	for i := range streams {
		if rate := float64(offered[i].Rate) / 8e9; rate > 0 {
			links.offer(f, &streams[i], rate, float64(streams[i].Reply)/max(offered[i].MeanSize, 1))
		}
	}
	even = true
	for i := range links.full {
		low, high := math.Inf(1), 0.0
		for j, rate := range links.full[i] {
			if x := links.left[i][j]; rate > 0 && x > 0 {
				low, high = min(low, x/rate), max(high, x/rate)
			}
		}
		even = even && high <= evenWithin*low
		most = max(most, high)
	}
	return most, even, nil
}

// evenWithin is the ratio of shares that are called even.
const evenWithin = 1.05

// offer adds a stream's payload and its replies' to the links that it takes: from
// each sender to all receivers but itself alike.
func (b *budgets) offer(f *topo.Fabric, s *traffic.Stream, rate, reply float64) {
	from, to := ends(f, s.From), ends(f, s.To)
	weights, total := make([]float64, len(from)), 0.0
	for i, h := range from {
		weights[i] = 1
		if s.Load > 0 && s.Pattern != traffic.PatternIncast { // a share of each sender's own link
			weights[i] = float64(f.Uplink(h).Rate)
		}
		total += weights[i]
	}
	for i, src := range from {
		receivers := len(to)
		for _, dst := range to {
			if dst == src {
				receivers--
			}
		}
		for _, dst := range to {
			if dst != src {
				x := rate * weights[i] / total / float64(receivers)
				b.add(src, dst, x)
				b.add(dst, src, x*reply)
			}
		}
	}
}

func (b *budgets) add(src, dst topo.HostID, x float64) {
	b.left[hostUp][src] += x
	b.left[hostDown][dst] += x
	if from, to := b.rack[src], b.rack[dst]; from != to {
		b.left[rackUp][from] += x
		b.left[rackDown][to] += x
	}
}

// within is the part of a message's payload that an unloaded fabric would have received
// in a span.
func (m *Message) within(from, to units.Time) float64 {
	span := max(m.UnloadedPaper, 1)
	within := min(m.Offered+span, to) - max(m.Offered, from)
	return float64(m.Size) * float64(max(within, 0)) / float64(span)
}

// offeredGbps is the payload that an unloaded fabric would have received in a window, per
// host.
func offeredGbps(list []Message, from, to units.Time, hosts int) float64 {
	sum := 0.0
	for i := range list {
		sum += list[i].within(from, to)
	}
	return Gbps(sum, to-from) / float64(hosts)
}
