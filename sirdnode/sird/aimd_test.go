package sird_test

import (
	"math"
	"testing"

	"sirdbed/sirdnode/sird"
	"sirdbed/topo/units"
)

func aimdParams() *sird.Params {
	return &sird.Params{BDP: 100_000, Gain: 0.08, Increase: 1, IncreaseOnMark: true, CutSpacing: 1.5,
		MinSenderBucket: 0.1, MinNetBucket: 0.03}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// README, Control loops, step 3: floor(1538 * 1538 / bucket) for each packet, as
// released on marked packets too.
// Both loops grow by the smaller bucket.
func TestBucketGrowsByAFramePerBucketOfPackets(t *testing.T) {
	for _, c := range []struct{ bucket, more units.Bytes }{
		{99_900, 23}, {50_000, 47}, {10_000, 236}, {3_000, 788}, {100_000, 0}, {99_990, 10},
	} {
		for _, onMark := range []bool{true, false} {
			p := aimdParams()
			p.IncreaseOnMark = onMark
			plain, marked := sird.NewLoops(p, frame), sird.NewLoops(p, frame)
			plain.SetBuckets(100_000, c.bucket)
			marked.SetBuckets(100_000, c.bucket)
			plain.Sample(p, false, false)
			marked.Sample(p, true, false)
			want := c.bucket + c.more
			if _, net := plain.Buckets(); net != want {
				t.Errorf("%v + %v, want + %v", c.bucket, net-c.bucket, c.more)
			}
			if !onMark {
				want = c.bucket
			}
			if _, net := marked.Buckets(); net != want {
				t.Errorf("increase_on_mark %v: %v + %v on a marked packet", onMark, c.bucket, net-c.bucket)
			}
		}
	}
	p := aimdParams()
	p.Increase = 2
	l := sird.NewLoops(p, frame)
	l.SetBuckets(10_000, 100_000)
	l.Sample(p, false, false)
	if sender, _ := l.Buckets(); sender != 10_473 { // 2 * 236.5
		t.Errorf("with increase 2: %v", sender)
	}
	p = aimdParams()
	l = sird.NewLoops(p, frame)
	l.SetBuckets(10_000, 50_000)
	l.Sample(p, false, false)
	if sender, net := l.Buckets(); sender != 10_236 || net != 50_236 {
		t.Errorf("the smaller bucket is 10,000: %v and %v after one packet", sender, net)
	}
}

// README, Control loops, step 2: alpha = 0.92 alpha + 0.08 marked/total, at
// first after one packet, then after floor(bucket/1538) packets.
func TestAlphaIsSmoothedOnceABucketOfPackets(t *testing.T) {
	p := aimdParams()
	l := sird.NewLoops(p, frame)
	l.Sample(p, true, false)
	if sender, net := l.Alphas(); sender != 0 || !near(net, 0.08) || l.Window() != 65 {
		t.Fatalf("after one packet alphas %v and %v, window %d", sender, net, l.Window())
	}
	for i := range 65 {
		if _, net := l.Alphas(); !near(net, 0.08) {
			t.Fatalf("alpha %v after %d packets more", net, i)
		}
		l.Sample(p, i < 13, i < 26)
	}
	if sender, net := l.Alphas(); !near(sender, 0.08*26/65) || !near(net, 0.92*0.08+0.08*13/65) {
		t.Errorf("alphas %v and %v", sender, net)
	}
}

// README, Control loops: one count of packets serves both loops, and the smaller
// bucket sets its window.
func TestBothLoopsShareTheCountOfPackets(t *testing.T) {
	p := aimdParams()
	l := sird.NewLoops(p, frame)
	l.SetBuckets(100_000, 15_380)
	l.Sample(p, false, false)
	if l.Window() != 10 {
		t.Fatalf("window %d, want 10", l.Window())
	}
	for range 10 {
		l.Sample(p, false, true)
	}
	if sender, net := l.Alphas(); !near(sender, 0.08) || net != 0 {
		t.Errorf("alphas %v and %v after the smaller bucket's packets", sender, net)
	}
}

// README, Control loops, step 4: bucket * alpha/2 comes off on a marked
// packet, first after 65 packets, then after floor(1.5 bucket / 1538) since the
// last cut, by the bucket before that.
func TestBucketIsCutByHalfAlphaOncePerOneAndAHalfBuckets(t *testing.T) {
	p := aimdParams()
	l := sird.NewLoops(p, frame)
	// By hand: with all packets marked alpha is 0.08 from packet 1 on, 0.1536
	// from 66 on (window 65), and so forth.
	for packet := 1; packet < 65; packet++ {
		l.Sample(p, true, false)
		if _, net := l.Buckets(); net != 100_000 {
			t.Fatalf("cut at packet %d to %v", packet, net)
		}
	}
	l.Sample(p, true, false)
	// 100,000 + 23, less 0.04 of it = 4000.92.
	sender, net := l.Buckets()
	if net != 96_023 || sender != 100_000 {
		t.Fatalf("buckets %v and %v after the first cut", sender, net)
	}
	// floor(1.5 * 100,000 / 1538) = 97 packets on, at packet 162, comes the next.
	// Windows: 65, from packet 66 on 62: the updates are at 1, 66, 128, ...
	before := net
	for packet := 66; packet < 162; packet++ {
		l.Sample(p, true, false)
		_, net := l.Buckets()
		if more := net - before; more < 23 || more > 24 {
			t.Fatalf("%+d at packet %d", more, packet)
		}
		before = net
	}
	_, alpha := l.Alphas()
	if want := 1 - math.Pow(0.92, 3); !near(alpha, want) {
		t.Errorf("alpha %v, want %v", alpha, want)
	}
	l.Sample(p, true, false)
	before += 24 // 1538 * 1538 / 98.3e3
	want := float64(before) * (1 - alpha/2)
	if _, net := l.Buckets(); math.Abs(float64(net)-want) > 2 {
		t.Errorf("second cut to %v, want %.0f", net, want)
	}
}

// An unmarked packet never cuts, however large alpha is.
func TestOnlyMarkedPacketsCut(t *testing.T) {
	p := aimdParams()
	l := sird.NewLoops(p, frame)
	for range 1000 {
		l.Sample(p, true, false)
	}
	_, before := l.Buckets()
	for range 200 {
		l.Sample(p, false, false)
		_, net := l.Buckets()
		if net < before {
			t.Fatalf("%v after %v", net, before)
		}
		before = net
	}
}

// README, Control loops, step 5: buckets stay between 0.1 BDP (csn) or 0.03 BDP (ECN)
// and one BDP, and never go below one frame.
func TestBucketsAreClamped(t *testing.T) {
	for _, c := range []struct {
		frame, sender, net units.Bytes
	}{
		{1538, 10_000, 3_000},
		{9038, 10_000, 9_038},
	} {
		p := aimdParams()
		p.IncreaseOnMark = false // of large frames it would balance the cuts
		l := sird.NewLoops(p, c.frame)
		leastSender, leastNet := units.Unlimited, units.Unlimited
		for range 5000 {
			l.Sample(p, true, true)
			sender, net := l.Buckets()
			leastSender, leastNet = min(leastSender, sender), min(leastNet, net)
		}
		if leastSender != c.sender || leastNet < c.net || leastNet > c.net+1 {
			t.Errorf("frame %v: down to %v and %v, want %v and %v", c.frame, leastSender, leastNet, c.sender, c.net)
		}
		for range 20_000 {
			l.Sample(p, false, false)
			if sender, net := l.Buckets(); sender > p.BDP || net > p.BDP {
				t.Fatalf("up to %v and %v", sender, net)
			}
		}
		if sender, net := l.Buckets(); sender != p.BDP || net != p.BDP {
			t.Errorf("without marks %v and %v", sender, net)
		}
	}
}

// README, Control loops: every packet from a host is a sample, control
// packets too; by the paper's Algorithm 1 (onDataPacket) only data is.
func TestControlPacketsAreSamplesByDefault(t *testing.T) {
	f := rack(t, 2)
	for _, c := range []struct {
		samples string
		h       sird.Header
		counts  bool
	}{
		{"all", sird.Header{Kind: "CREDIT"}, true},
		{"all", sird.Header{Kind: "ACK"}, true},
		{"all", sird.Header{Kind: "BUSY"}, true},
		{"all", sird.Header{Kind: "DATA", Request: true, Length: 500_000}, true},
		{"data", sird.Header{Kind: "CREDIT"}, false},
		{"data", sird.Header{Kind: "ACK"}, false},
		{"data", sird.Header{Kind: "BUSY"}, false},
		{"data", sird.Header{Kind: "DATA", Request: true, Length: 500_000}, true},
	} {
		s := newCore(t, f, 0, params(f, func(p *sird.Params) { p.Samples = c.samples }))
		s.get(0, 1, c.h, 0, true)
		if _, net := s.Loops(1).Alphas(); (net > 0) != c.counts {
			t.Errorf("aimd_samples %s, %s: alpha %v", c.samples, c.h.Kind, net)
		}
	}
}
