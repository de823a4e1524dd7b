package sird

import "math"

// bounds are the least and the greatest size of a loop's bucket, and the wire bytes
// of a full packet.
type bounds struct{ min, max, frame Bytes }

// An aimd is one of the two control loops that size a sender's bucket: DCTCP's
// rule, counted in packets instead of time, exactly as released (README, Control
// loops).
type aimd struct {
	bounds
	bucket   Bytes
	alpha    float64 // smoothed share of marked packets
	marks    int     // since alpha's last update
	sinceCut int     // packets since the last decrease
	nextCut  int     // least packets between decreases
}

// newAIMD starts a loop at its upper bound. As released, the first decrease may come
// after one bucket of packets, whatever the spacing of those that follow.
func newAIMD(b bounds) aimd {
	return aimd{bounds: b, bucket: b.max, nextCut: int(b.max / b.frame)}
}

// loops are both control loops of one sender. They share the count of packets after
// which alpha is updated.
type loops struct {
	sender, net aimd
	packets     int // since alpha's last update
	window      int // packets after which alpha is updated
	heardAt     Time
}

// newLoops starts both at bdp, the most credit that the sender can use.
func newLoops(p *Params, bdp, frame Bytes) loops {
	least := func(share float64) Bytes {
		return max(frame, Multiple(share).of(bdp))
	}
	return loops{
		sender: newAIMD(bounds{least(p.MinSenderBucket), bdp, frame}),
		net:    newAIMD(bounds{least(p.MinNetBucket), bdp, frame}),
		window: 1,
	}
}

// bucket is the credit that the sender may have: the more congested loop decides.
func (l *loops) bucket() Bytes { return min(l.sender.bucket, l.net.bucket) }

// most is the largest that the bucket gets: one BDP, or less of a sender with a slower link.
func (l *loops) most() Bytes { return l.net.max }

// age has both buckets grow back while nothing comes from the sender: what they lack of their
// upper bounds, and alpha, halve in each halfLife of silence. What congestion there was is history.
func (l *loops) age(now, halfLife Time) {
	if idle := now - l.heardAt; idle >= halfLife {
		left := math.Exp2(-float64(idle) / float64(halfLife))
		l.sender.age(left)
		l.net.age(left)
	}
	l.heardAt = now
}

func (a *aimd) age(left float64) {
	a.bucket = a.max - Bytes(float64(a.max-a.bucket)*left)
	a.alpha *= left
}

// samples reports whether a packet that is no data counts for the loops. The released simulator has
// credit, and no acknowledgements.
func (h *header) samples(which string) bool {
	switch which {
	case "released":
		return h.kind == credit && h.flags&request == 0
	case "all":
		return !h.isData()
	}
	return false
}

// sample feeds one packet to both loops, as Sender_AIMD and Net_AIMD of Algorithm 1.
func (l *loops) sample(p *Params, ce, csn bool) {
	l.packets++
	l.net.count(ce)
	l.sender.count(csn)
	if l.packets >= l.window {
		l.net.update(p, l.packets)
		l.sender.update(p, l.packets)
		l.packets, l.window = 0, max(1, int(l.bucket()/l.net.frame))
	}
	both := l.bucket()
	l.net.adjust(p, ce, both)
	l.sender.adjust(p, csn, both)
}

func (a *aimd) count(marked bool) {
	a.sinceCut++
	if marked {
		a.marks++
	}
}

// update smooths the share of marked packets into alpha.
func (a *aimd) update(p *Params, packets int) {
	a.alpha += p.Gain * (float64(a.marks)/float64(packets) - a.alpha)
	a.marks = 0
}

// adjust increases the bucket by about a frame for each bucket of packets, and cuts
// it by alpha/2 on a mark, unless the last cut is too recent. How fast and how often
// depends on how many packets come in a round trip: on the smaller bucket of both loops,
// before this packet.
func (a *aimd) adjust(p *Params, marked bool, both Bytes) {
	if !marked || p.IncreaseOnMark {
		a.bucket += Bytes(p.Increase * float64(a.frame) * float64(a.frame) / float64(both))
	}
	if marked && a.sinceCut >= a.nextCut {
		a.bucket -= Bytes(float64(a.bucket) * a.alpha / 2)
		a.sinceCut = 0
		a.nextCut = int(p.CutSpacing * float64(both) / float64(a.frame))
	}
	a.bucket = min(max(a.bucket, a.min), a.max)
}
