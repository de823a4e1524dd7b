package traffic

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Poisson: as many messages and bytes as the load asks for, exponential gaps, all
// receivers alike. The bounds are four standard deviations.
func TestPoissonStatistics(t *testing.T) {
	f := fabric(t, paperSpec)
	s := Stream{Name: "p", Pattern: PatternPoisson, Load: 0.5, Size: 3125} // a message each 500 ns
	const n = 40_000
	all := arrivals(t, f, 42, 3, n*500, s)
	if d := math.Abs(float64(len(all)) - n); d > 4*math.Sqrt(n) {
		t.Errorf("%d messages, want about %d", len(all), n)
	}
	var squares, last float64
	to := map[topo.HostID]int{}
	for _, a := range all {
		gap := (float64(a.At) - last) / 500
		squares, last = squares+gap*gap, float64(a.At)
		to[a.Dst]++
	}
	if got := squares / float64(len(all)); math.Abs(got-2) > 4*math.Sqrt(20.0/n) {
		t.Errorf("second moment of the gaps %.3f, want 2 of exponential ones", got)
	}
	if len(to) != 143 {
		t.Errorf("%d receivers, want 143", len(to))
	}
	for h, count := range to {
		if mean := n / 143.0; math.Abs(float64(count)-mean) > 5*math.Sqrt(mean) {
			t.Errorf("%d messages to %s, want about %.0f", count, f.HostName(h), mean)
		}
	}
}

// The offered load is the nominal one, by either sampling rule and with
// released arrivals. WKb's standard deviation is 5.5 means; with the
// gaps', 7 is ample.
func TestPoissonOffersItsLoad(t *testing.T) {
	f := fabric(t, rackSpec)
	for _, sampling := range []Sampling{SamplingLog, SamplingStep} {
		for _, arrive := range []Arrivals{ArrivalsPoisson, ArrivalsReleased} {
			s := Stream{Name: "p", Pattern: PatternPoisson, Rate: 50 * units.Gbps, Sizes: "wkb", Sampling: sampling,
				Arrivals: arrive}
			var sum units.Bytes
			var count int
			for self := range topo.HostID(8) {
				all := arrivals(t, f, 1, self, 100*ms, s)
				sum, count = sum+totalBytes(all), count+len(all)
			}
			got := 8 * float64(sum) / float64(len(f.Hosts)) / float64(100*ms) // bits a ns
			if bound := 4 * 7 * 50 / math.Sqrt(float64(count)); math.Abs(got-50) > bound {
				t.Errorf("%s, %s: %.2f Gbps in %d messages, want 50 within %.1f", sampling, arrive, got, count, bound)
			}
		}
	}
}

// README, Arrivals, released: the order of the sizes is that of the gaps
// before them. Independent arrivals have no such order.
func TestReleasedArrivalsTieSizesToGaps(t *testing.T) {
	f := fabric(t, rackSpec)
	s := Stream{Name: "p", Pattern: PatternPoisson, Load: 0.5, Sizes: "wkc", Arrivals: ArrivalsReleased}
	if rho := gapSizeCorrelation(arrivals(t, f, 3, 0, 500*ms, s)); rho < 0.99999 {
		t.Errorf("released: rank correlation %v, want 1", rho)
	}
	s.Arrivals = ArrivalsPoisson
	if rho := gapSizeCorrelation(arrivals(t, f, 3, 0, 500*ms, s)); math.Abs(rho) > 0.1 {
		t.Errorf("poisson: rank correlation %v, want 0", rho)
	}
}

// gapSizeCorrelation is Spearman's coefficient between gaps and the sizes of
// the messages that end them.
func gapSizeCorrelation(all []Arrival) float64 {
	gaps, sizes := make([]float64, len(all)), make([]float64, len(all))
	var last units.Time
	for i, a := range all {
		gaps[i], sizes[i], last = float64(a.At-last), float64(a.Size), a.At
	}
	x, y := ranks(gaps), ranks(sizes)
	var squares float64
	for i := range x {
		squares += (x[i] - y[i]) * (x[i] - y[i])
	}
	n := float64(len(all))
	return 1 - 6*squares/(n*(n*n-1))
}

func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	rank := make([]float64, len(values))
	for r, i := range order {
		rank[i] = float64(r)
	}
	return rank
}

// 17 Gbps of 10 MB messages is one each 4.705882 ms: no drift, receivers in
// turn, a phase per sender.
func TestFixed(t *testing.T) {
	f := fabric(t, rackSpec)
	s := Stream{Name: "f", Pattern: PatternFixed, Rate: 17 * units.Gbps, Size: 10 * units.Megabyte,
		To: []string{"h1-1", "h1-2", "h1-3"}}
	phases := map[units.Time]bool{}
	for self := range topo.HostID(8) {
		all := arrivals(t, f, 1, self, 500*ms, s)
		if len(all) < 106 || len(all) > 107 {
			t.Errorf("host %d: %d messages, want 106 or 107", self, len(all))
		}
		phases[all[0].At] = true
		targets := 3
		if self < 3 {
			targets = 2
		}
		for i, a := range all {
			want := float64(all[0].At) + float64(i)*8e7/17
			if math.Abs(float64(a.At)-want) > 1 || a.Size != s.Size || i >= targets && a.Dst != all[i-targets].Dst ||
				i > 0 && a.Dst == all[i-1].Dst {
				t.Fatalf("host %d: message %d is %+v, want it at %.0f", self, i, a, want)
			}
		}
	}
	if len(phases) != 8 {
		t.Errorf("%d different phases of 8 hosts, want 8", len(phases))
	}
	s.Phase = PhaseZero
	if all := arrivals(t, f, 1, 2, ms, s); len(all) != 1 || all[0].At != 0 || all[0].Dst != 0 {
		t.Errorf("h1-3 with phase zero begins with %+v, want h1-1 at 0", all)
	}
}

// With phase zero, hosts that send to all send permutations.
func TestFixedToAllIsAPermutation(t *testing.T) {
	f := fabric(t, rackSpec)
	s := Stream{Name: "f", Pattern: PatternFixed, Interval: us, Size: 8, Phase: PhaseZero}
	seen := map[[2]int]bool{}
	for self := range topo.HostID(8) {
		for i, a := range arrivals(t, f, 1, self, 10*us, s) {
			if key := [2]int{i, int(a.Dst)}; seen[key] {
				t.Errorf("two hosts send message %d to %d", i, a.Dst)
			} else {
				seen[key] = true
			}
		}
	}
}

// README, Incast: 30 of 144 hosts send 500 KB at once to one, every
// 238 us, for 7 % of a load of 50 Gbps.
func TestIncastOfThePaper(t *testing.T) {
	f := fabric(t, paperSpec)
	s := Stream{Name: "i", Pattern: PatternIncast, FanIn: 30, Size: 500 * units.Kilobyte, Load: 0.07 * 0.5}
	bursts := map[units.Time]map[topo.HostID]int{} // time -> receiver -> senders
	for _, self := range f.Hosts {
		for _, a := range arrivals(t, f, 1, self, end, s) {
			if !a.Incast || a.Size != s.Size {
				t.Fatalf("%+v", a)
			}
			if bursts[a.At] == nil {
				bursts[a.At] = map[topo.HostID]int{}
			}
			bursts[a.At][a.Dst]++
		}
	}
	// 84 bursts: at 0, 238.095 us, ..., 19.76 ms. A host sends at most once in
	// each, since its own times strictly increase (drain checks the order).
	if len(bursts) != 84 {
		t.Errorf("%d bursts, want 84", len(bursts))
	}
	receivers := map[topo.HostID]bool{}
	for at, burst := range bursts {
		j := math.Round(float64(at) / 238095.238)
		if math.Abs(float64(at)-j*238095.238) > 1 || len(burst) != 1 {
			t.Errorf("burst at %v to %d receivers", at, len(burst))
		}
		for receiver, senders := range burst {
			receivers[receiver] = true
			if senders != 30 {
				t.Errorf("burst at %v has %d senders", at, senders)
			}
		}
	}
	if len(receivers) < 50 {
		t.Errorf("only %d receivers in 84 bursts over 144 hosts", len(receivers))
	}
}

func TestIncastSendersAreDistinct(t *testing.T) {
	f := fabric(t, rackSpec)
	s := Stream{Name: "i", Pattern: PatternIncast, FanIn: 3, Size: 100, Interval: 10 * us,
		From: []string{"h1-1", "h1-2", "h1-3", "h1-4"},
		To:   []string{"h1-4", "h1-5"}}
	sent := map[topo.HostID]int{}
	to := map[topo.HostID]int{}
	for _, self := range f.Hosts {
		last := units.Time(-1)
		for _, a := range arrivals(t, f, 1, self, 10*ms, s) {
			if a.At == last {
				t.Fatalf("host %d sends twice in the burst at %v", self, a.At)
			}
			last = a.At
			sent[self]++
			to[a.Dst]++
		}
	}
	// 1000 bursts, half of them to h1-4 by the other three, half to h1-5 by
	// three of four.
	if to[3]+to[4] != 3000 || math.Abs(float64(to[3]-1500)) > 3*4*16 {
		t.Errorf("messages to %v, want 3000 in halves", to)
	}
	for h, want := range map[topo.HostID]float64{0: 875, 1: 875, 2: 875, 3: 375, 4: 0} {
		if math.Abs(float64(sent[h])-want) > 60 {
			t.Errorf("%s sends %d times, want about %.0f", f.HostName(h), sent[h], want)
		}
	}
}

// The paper's outcast (README, Outcast) in small: receivers join at 1, 3 and
// 5 ms, each has two messages on their way at any time from then on.
func TestOutcastKeepsMessagesOutstanding(t *testing.T) {
	f := fabric(t, rackSpec)
	s := source(t, f, 1, 0, 8*ms, Stream{Name: "o", Pattern: PatternOutcast, From: []string{"h1-1"},
		To:   []string{"h1-4", "h1-2", "h1-3"},
		Size: 10 * units.Megabyte, Outstanding: 2, Start: ms, Stagger: 2 * ms})
	flying := map[topo.HostID]int{}
	var oldest []Arrival // first in, first out: one completes each 400 us
	pops := 0
	take := func(now units.Time) {
		for s.NextAt() <= now {
			a, ok := s.Pop()
			if !ok || a.At > now || a.Size != 10*units.Megabyte || a.Tag.Index() != pops {
				t.Fatalf("at %v: %+v, %v", now, a, ok)
			}
			flying[a.Dst]++
			oldest = append(oldest, a)
			pops++
		}
	}
	refills := 0
	for now := units.Time(0); now < 10*ms; now += 100 * us {
		take(now)
		if now >= ms && now%(400*us) == 0 && len(oldest) > 0 {
			done := oldest[0]
			oldest = oldest[1:]
			flying[done.Dst]--
			if now < 8*ms {
				refills++
			}
			s.Completed(done.Tag.Reply(), now)
			s.Completed(done.Tag, now) // a second time: ignored
			if now < 8*ms && s.NextAt() != now {
				t.Fatalf("completed at %v, next at %v", now, s.NextAt())
			}
			take(now)
		}
		for i, h := range []topo.HostID{3, 1, 2} {
			want := 0
			if now >= ms+units.Time(i)*2*ms {
				want = 2
			}
			if now < 8*ms && flying[h] != want {
				t.Fatalf("at %v: %d messages on their way to %s, want %d", now, flying[h], f.HostName(h), want)
			}
		}
	}
	if refills < 15 || pops != 6+refills || s.NextAt() != units.Never {
		t.Errorf("%d messages, %d of them in the place of completed ones, next at %v", pops, refills, s.NextAt())
	}
}

// Completed leaves open-loop streams and unknown tags alone.
func TestCompletedOfOpenLoop(t *testing.T) {
	f := fabric(t, rackSpec)
	s := source(t, f, 1, 0, end, everyOpenPattern()...)
	want := s.NextAt()
	for stream := range 6 {
		tag, _ := MakeTag(stream, 0)
		s.Completed(tag, 1)
	}
	if s.NextAt() != want {
		t.Errorf("next at %v, was %v", s.NextAt(), want)
	}
}

func TestOfferedLoad(t *testing.T) {
	f := fabric(t, rackSpec)
	streams := []Stream{
		{Name: "p", Pattern: PatternPoisson, Load: 0.5, Sizes: "wka"},
		{Name: "f", Pattern: PatternFixed, Rate: 17 * units.Gbps, Size: 10 * units.Megabyte, From: []string{"h1-1",
			"h1-2"}, To: []string{"h1-8"}},
		{Name: "i", Pattern: PatternIncast, Load: 0.07, FanIn: 3, Size: 500 * units.Kilobyte},
		{Name: "o", Pattern: PatternOutcast, From: []string{"h1-1"}, Size: 100},
		{Name: "l", Pattern: PatternList, Messages: []ListEntry{{Src: "h1-1", Dst: "h1-2", Size: 100},
			{Src: "h1-1", Dst: "h1-2", Size: 300}}},
	}
	got, err := OfferedLoad(f, streams)
	if err != nil {
		t.Fatal(err)
	}
	mean := workload(t, "wka").Mean(SamplingLog)
	want := []Offered{{"p", 8, mean, 400 * units.Gbps}, {"f", 2, 1e7, 34 * units.Gbps},
		{"i", 8, 500000, 56 * units.Gbps},
		{"o", 1, 100, 0}, {"l", 1, 200, 0}}
	if !slices.Equal(got, want) {
		t.Errorf("offered %+v, want %+v", got, want)
	}
}
