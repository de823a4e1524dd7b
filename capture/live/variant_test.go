package live

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

const (
	us = units.Microsecond
	ms = units.Millisecond
)

// fold folds a made-up run, the hosts' logs in pieces of n records in turn, as they are
// read while they grow.
func fold(t *testing.T, r *fakerun.Run, n int) *Variant {
	t.Helper()
	v, err := NewVariant(&r.X)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; ; at += n {
		v.look()
		more := false
		for h := range r.Hosts {
			for _, rec := range piece(r.Hosts[h], at, n) {
				v.Host(topo.HostID(h), rec)
				more = true
			}
		}
		for _, rec := range piece(r.Queues, at, n) {
			v.Queue(rec)
			more = true
		}
		if !more {
			return v
		}
	}
}

func piece(list []record.Record, at, n int) []record.Record {
	return list[min(at, len(list)):min(at+n, len(list))]
}

// glanceOf is a variant in a few figures when it has ended.
func glanceOf(v *Variant) *Glance {
	g := &Glance{State: Done}
	v.glance(g)
	return g
}

// What the picture says of a run that has ended is what its results say, whatever the
// pieces in which the logs came.
func TestPictureAgreesWithResults(t *testing.T) {
	r := fakerun.Busy(t)
	dir, err := emu.OpenRunDir(r.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	want, err := results.Analyze(dir, results.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for h := range r.Hosts {
		r.Hosts[h] = append(r.Hosts[h], record.Record{Kind: record.End, At: 10 * ms})
	}
	for _, n := range []int{1, 7, 1 << 20} {
		g := glanceOf(fold(t, r, n))
		if math.Abs(g.Gbps-want.Goodput.Gbps) > 0.01*want.Goodput.Gbps {
			t.Errorf("in pieces of %d: got %.3f Gbps a host, want %.3f", n, g.Gbps, want.Goodput.Gbps)
		}
		if g.Hosts[0].Name != "h2-1" || g.Hosts[1].Name != "h1-2" {
			t.Errorf("in pieces of %d: got top hosts %v, want h2-1 and h1-2", n, g.Hosts)
		}
		all := want.Latencies.Slowdown[results.Paper][results.AllSizes]
		if s := g.Slowdowns[0]; s.Count != 200 || far(s.P50, all.P50) || far(s.P99, all.P99) {
			t.Errorf("in pieces of %d: got slowdowns %+v, want %+v", n, s, all)
		}
		if g.Offered != 200 || g.Done != 200 || g.Failed != 0 {
			t.Errorf("in pieces of %d: got %d of %d messages, %d failed; want 200 of 200", n, g.Done, g.Offered,
				g.Failed)
		}
		deepest := want.Queue.Ports["leaf1>h1-2"].Max
		if q := g.Queues[0]; q.Name != "leaf1>h1-2" || q.Deepest != deepest {
			t.Errorf("in pieces of %d: got the deepest queue %+v, want %d B at leaf1>h1-2", n, q, deepest)
		}
	}
}

// far reports whether a quantile is off by more than its classes allow, and what lies
// between two samples.
func far(got, want float64) bool { return math.Abs(got/want-1) > 0.025 }

func TestRequestsEndWithTheirReplies(t *testing.T) {
	stream := traffic.Stream{Name: "rpc", Pattern: traffic.PatternFixed, Size: 8, Reply: 1000}
	for _, c := range []struct {
		name       string
		latency    traffic.Latency
		reply      bool // came
		done, slow int
	}{
		{"both ways", "", true, 1, 1},
		{"no reply yet", "", false, 0, 0},
		{"requests alone", traffic.LatencyRequest, false, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := stream
			s.Latency = c.latency
			r := fakerun.New(t, s)
			tag := fakerun.Tag(t, 0, 0)
			log := func(h int, kind record.Kind, peer, id int, tag traffic.Tag, at units.Time, size int64) {
				r.Hosts[h] = append(r.Hosts[h], record.Record{
					Kind: kind, Peer: uint16(peer), ID: uint32(id), Tag: uint32(tag), At: at, N: size,
				})
			}
			log(0, record.Offered, 1, 0, tag, 2*ms, 8)
			log(1, record.Delivered, 0, 0, tag, 2*ms+5*us, 8)
			log(1, record.Offered, 0, 0, tag.Reply(), 2*ms+5*us, 1000)
			if c.reply {
				log(0, record.Delivered, 1, 0, tag.Reply(), 2*ms+12*us, 1000)
			}
			v := fold(t, r, 1)
			g := glanceOf(v)
			slow := 0
			for _, s := range g.Slowdowns[:min(1, len(g.Slowdowns))] {
				slow = int(s.Count)
			}
			if g.Offered != 1 || g.Done != c.done || slow != c.slow {
				t.Errorf("got %d of %d done and %d slowdowns, want %d of 1 and %d", g.Done, g.Offered, slow, c.done,
					c.slow)
			}
			if c.slow > 0 && c.done > 0 && len(v.messages.by) != 0 {
				t.Errorf("%d halves of messages are kept", len(v.messages.by))
			}
		})
	}
}

// Messages outside the window and incast ones have no slowdown here, as in results.
func TestSlowdownsCountTheWindowAlone(t *testing.T) {
	for name, c := range map[string]struct {
		at      units.Time
		pattern traffic.Pattern
		want    int
	}{
		"warm-up": {ms / 2, traffic.PatternFixed, 0}, "window": {2 * ms, traffic.PatternFixed, 1},
		"after": {9 * ms, traffic.PatternFixed, 0}, "incast": {2 * ms, traffic.PatternIncast, 0},
	} {
		s := fakerun.OneWay
		s.Pattern = c.pattern
		r := fakerun.New(t, s)
		r.Message(0, 1, 0, fakerun.Tag(t, 0, 0), 1000, c.at, c.at+9*us)
		got := 0
		for _, s := range glanceOf(fold(t, r, 1)).Slowdowns {
			if s.Group == results.AllSizes {
				got = int(s.Count)
			}
		}
		if got != c.want {
			t.Errorf("%s: got %d slowdowns, want %d", name, got, c.want)
		}
	}
}

func TestLinkLoad(t *testing.T) {
	r := fakerun.New(t, fakerun.OneWay)
	up := r.F.Uplink(2).ID
	for at := units.Time(0); at <= 5*ms; at += 250 * us { // half of 100 Gbps
		sent := record.Record{Kind: record.Sent, Peer: uint16(up), At: at, N: int64(at) * 100 / 16}
		r.Hosts[2] = append(r.Hosts[2], sent)
	}
	v := fold(t, r, 3)
	p := &Picture{}
	v.picture(p, Query{Variant: -1})
	for _, c := range p.Columns {
		begin := units.Time(c.At) * v.time.width
		if want := 500; begin+v.time.width <= 5*ms && c.Load[up] != want {
			t.Errorf("at %v: got a load of %d per thousand, want %d", begin, c.Load[up], want)
		}
	}
	if len(p.Columns) == 0 {
		t.Error("no column at all")
	}
}

// A queue that waits on is in the columns in between, and not after it has emptied.
func TestQueueThatWaitsOn(t *testing.T) {
	r := fakerun.New(t, fakerun.OneWay)
	port := r.F.Downlink(1).ID
	for at := units.Time(0); at < 8*ms; at += 10 * us {
		switch at {
		case 2 * ms:
			r.Queues = append(r.Queues, record.Record{Kind: record.Queue, Peer: uint16(port), At: at, N: 5000})
		case 4 * ms:
			r.Queues = append(r.Queues, record.Record{Kind: record.Queue, Peer: uint16(port), At: at})
		}
		r.Queues = append(r.Queues, record.Record{Kind: record.Tick, At: at})
	}
	v := fold(t, r, 50)
	for i := range v.cols {
		want := int64(0)
		if b := v.time.begin(i); b+v.time.width > 2*ms && b <= 4*ms {
			want = 5000
		}
		got := int64(0)
		if v.cols[i].deepest != nil {
			got = v.cols[i].deepest[port]
		}
		if got != want {
			t.Errorf("column at %v: got %d B, want %d", v.time.begin(i), got, want)
		}
	}
}

// A page gets what has changed since it last asked, and together that is all.
func TestPictureHasWhatIsNew(t *testing.T) {
	r := fakerun.Busy(t)
	v, err := NewVariant(&r.X)
	if err != nil {
		t.Fatal(err)
	}
	seen, rev, sent := map[int]Column{}, 0, 0
	for at := 0; at < 400; at += 20 {
		v.look()
		for h := range r.Hosts {
			for _, rec := range piece(r.Hosts[h], at, 20) {
				v.Host(topo.HostID(h), rec)
			}
		}
		p := &Picture{}
		v.picture(p, Query{Rev: rev, Gauge: "credit"})
		for _, c := range p.Columns {
			seen[c.At] = c
		}
		rev, sent = p.Rev, sent+len(p.Columns)
	}
	all := &Picture{}
	v.picture(all, Query{Gauge: "credit"})
	for _, want := range all.Columns {
		got := seen[want.At]
		if !slices.Equal(got.Goodput, want.Goodput) || len(got.Gauge) != len(want.Gauge) {
			t.Errorf("column %d: got %+v, want %+v", want.At, got, want)
		}
	}
	if len(all.Columns) == 0 || sent > 5*len(all.Columns) {
		t.Errorf("%d columns were sent of %d", sent, len(all.Columns))
	}
	if all.Static == nil || len(all.Gauges) != 1 || all.Gauges[0].Name != "credit" {
		t.Errorf("got gauges %+v and static %v", all.Gauges, all.Static != nil)
	}
}

// Whatever a log says, the picture stands, and JSON can be made of it.
func TestDamagedRecords(t *testing.T) {
	r := fakerun.New(t, fakerun.OneWay)
	v, err := NewVariant(&r.X)
	if err != nil {
		t.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(1, 2))
	numbers := []int64{0, 1, -1, 1000, math.MaxInt64, math.MinInt64, int64(math.Float64bits(math.NaN())),
		int64(math.Float64bits(math.Inf(1)))}
	for range 20_000 {
		rec := record.Record{
			Kind: record.Kind(draw.IntN(int(record.Sent) + 2)), Peer: uint16(draw.IntN(40)), ID: uint32(draw.IntN(3)),
			Tag: draw.Uint32(), At: units.Time(numbers[draw.IntN(6)]), N: numbers[draw.IntN(len(numbers))],
			Text: "credit",
		}
		if draw.IntN(2) == 0 {
			rec.At = units.Time(draw.IntN(int(10 * ms)))
		}
		if draw.IntN(4) == 0 {
			v.Queue(rec)
			continue
		}
		v.Host(topo.HostID(draw.IntN(4)), rec)
	}
	p := &Picture{Seen: []*Glance{glanceOf(v)}}
	v.picture(p, Query{Gauge: "credit"})
	text(t, p)
}

// The picture's time has as many columns as are worth drawing, whatever the run's times.
func TestAxis(t *testing.T) {
	for name, x := range map[string]emu.Experiment{
		"short":      {Warmup: 1, Duration: 5, Drain: 3},
		"long drain": {Warmup: ms, Duration: 4 * ms, Drain: 100 * ms},
		"no drain":   {Duration: 50 * ms}, "rare gauges": {Duration: 50 * ms, GaugeEvery: 5 * ms},
		"nothing": {},
	} {
		a := newAxis(&x)
		if a.n < 1 || a.n > maxColumns || a.width < max(1, x.GaugeEvery) {
			t.Errorf("%s: got %d columns of %v", name, a.n, a.width)
		}
		_, to := x.Window()
		if x.Duration > 0 && a.begin(a.n) < to {
			t.Errorf("%s: the columns end at %v, before the window does at %v", name, a.begin(a.n), to)
		}
	}
}

func TestHistogramQuantiles(t *testing.T) {
	var h histogram
	for i := 1; i <= 1000; i++ {
		h.add(float64(i))
	}
	for p, want := range map[float64]float64{0.001: 1, 0.5: 500, 0.99: 990, 1: 1000} {
		if got := h.quantile(p); math.Abs(got/want-1) > 0.011 {
			t.Errorf("quantile %v: got %v, want %v within 1 %%", p, got, want)
		}
	}
	h.add(1e12)
	h.add(0.1)
	if h.n != 1002 || h.quantile(1) < 1e5 {
		t.Errorf("got %d counts and a largest of %v", h.n, h.quantile(1))
	}
}

// A host that restarts numbers its gauges anew, behind that of payload.
func TestGaugesOfARestartedHost(t *testing.T) {
	r := fakerun.New(t, fakerun.OneWay)
	r.Gauge(0, 0, results.PayloadGauge)
	r.Gauge(0, 1, "a")
	r.Gauge(0, 2, "b")
	r.Hosts[0] = append(r.Hosts[0], record.Record{Kind: record.Killed, At: us},
		record.Record{Kind: record.Restarted, At: 2 * us, N: 1})
	r.Gauge(0, 1, "b")
	v := fold(t, r, 3)
	if got, want := v.hosts[0].gauges, []int{payloadGauge, v.index["b"]}; !slices.Equal(got, want) {
		t.Errorf("gauges %d, want %d: payload, and b", got, want)
	}
}
