package results

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sirdbed/capture/internal/fakerun"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

var poisson = traffic.Stream{Name: "all", Pattern: traffic.PatternPoisson, Size: 10000, Load: 0.8}

// A single server queue with Poisson arrivals of the given load, from hosts 0
// and 1 to host 2, in processor-time units of 1 us a message.
func serve(t *testing.T, r *fakerun.Run, load float64, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 99))
	var free, payload float64
	at, i := 0.0, 0
	var points []fakerun.Point
	next := 0.0
	for at < float64(r.X.Warmup+r.X.Duration) {
		at += rng.ExpFloat64() * 1000 / load
		free = max(free, at) + rng.ExpFloat64()*1000
		for ; next < at; next += 100_000 {
			points = append(points, fakerun.At(units.Time(next), 0))
		}
		done := units.Time(free)
		if done > r.X.End() {
			done = 0
		}
		r.Message(0, 2, i, fakerun.Tag(t, 0, i), 10000, units.Time(at), done)
		i++
	}
	// The gauge counts deliveries, which are in order.
	k := 0
	for _, rec := range r.Hosts[2] {
		for ; rec.Kind == record.Delivered && k < len(points) && points[k].At < rec.At; k++ {
			points[k].Value = payload
		}
		payload += float64(rec.N)
	}
	for ; k < len(points); k++ {
		points[k].Value = payload
	}
	r.Gauge(2, 0, PayloadGauge, points...)
	for _, h := range []topo.HostID{0, 1, 3} {
		r.Gauge(h, 0, PayloadGauge, fakerun.At(0, 0), fakerun.At(10*ms, 0))
	}
}

func TestStableQueueIsStable(t *testing.T) {
	wrong := 0
	for seed := range uint64(24) {
		r := fakerun.New(t, poisson)
		serve(t, r, []float64{0.5, 0.7, 0.8, 0.85}[seed%4], seed)
		s := analyze(t, r).Stability
		if !s.Applies {
			t.Fatal("the rule does not apply")
		}
		if s.Unstable {
			wrong++
			t.Logf("seed %d: %v", seed, s.Reasons)
		}
	}
	if wrong > 1 {
		t.Errorf("%d of 24 stable runs are called unstable, want at most one", wrong)
	}
}

func TestOverloadIsUnstable(t *testing.T) {
	for seed := range uint64(8) {
		r := fakerun.New(t, poisson)
		serve(t, r, 1.25, seed)
		if s := analyze(t, r).Stability; !s.Unstable {
			t.Errorf("seed %d: a load of 1.25 is called stable: %+v", seed, s)
		}
	}
}

func TestGrowingQueueIsUnstable(t *testing.T) {
	for _, c := range []struct {
		grows    bool
		unstable bool
	}{{true, true}, {false, false}} {
		t.Run(fmt.Sprintf("grows %v", c.grows), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			r := fakerun.New(t, poisson)
			for at := units.Time(0); at < 10*ms; at += 10 * us {
				n := int64(100_000 + rng.IntN(60_000))
				if c.grows {
					n += int64(at / 50)
				}
				r.Queues = append(r.Queues, record.Record{Kind: record.Queue, Peer: uint16(r.F.Downlink(0).ID), At: at,
					N: n}, record.Record{Kind: record.Tick, At: at})
			}
			s := analyze(t, r).Stability
			if s.Unstable != c.unstable || (c.unstable && !strings.Contains(s.Reasons[0], "leaf1")) {
				t.Errorf("got %+v, want unstable: %v, for leaf1", s, c.unstable)
			}
		})
	}
}

func TestShortfallIsUnstable(t *testing.T) {
	r := fakerun.New(t, poisson)
	for i := range 9000 { // 80 Gbps arrive, 72 are counted
		r.Log(0, record.Offered, 1, i, fakerun.Tag(t, 0, i), units.Time(i)*us, 10000)
		r.Log(1, record.Delivered, 0, i, fakerun.Tag(t, 0, i), units.Time(i)*us+10*us, 10000)
	}
	for h := range r.Hosts {
		rate := 0.0
		if h == 1 {
			rate = 9
		}
		r.Gauge(r.F.Hosts[h], 0, PayloadGauge, fakerun.At(0, 0), fakerun.At(10*ms, rate*10e6))
	}
	s := analyze(t, r).Stability
	if !s.Unstable || !strings.Contains(s.Reasons[0], "72.00 of 79.94 Gbps") {
		t.Errorf("got %+v, want it unstable for 72.00 of 79.94 Gbps", s)
	}
}

func TestRuleIsForPoissonOnly(t *testing.T) {
	r := fakerun.New(t, fakerun.OneWay)
	serve(t, r, 1.5, 1)
	if s := analyze(t, r).Stability; s.Applies || s.Unstable {
		t.Errorf("got %+v, want a rule that does not apply", s)
	}
}
