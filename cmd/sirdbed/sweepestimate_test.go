package main

import (
	"encoding/csv"
	"errors"
	"io"
	"math"
	"os"
	"strconv"
	"testing"

	"sirdbed/capture/points"
	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/scenarios/sweep"
	"sirdbed/traffic"
)

// A recorded is what the points of a plan cost and took.
type recorded struct {
	jobs    []sweep.Job
	rounds  []int
	seconds []float64
}

// recordedPlan reads a plan that was run: by point its round, what it is of, its cost, and
// the seconds of a processor that it took.
func recordedPlan(t *testing.T, path string) (r recorded) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := csv.NewReader(file)
	if _, err := lines.Read(); err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for {
		line, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return r
		}
		if err != nil {
			t.Fatal(err)
		}
		j := sweep.Job{Engine: emu.Model, Cost: number(line[4])}
		j.Experiment.Protocol = line[1]
		j.Experiment.Streams = []traffic.Stream{{Sizes: line[2], Load: number(line[3])}}
		j.Address.Key = strconv.Itoa(len(r.jobs))
		r.jobs, r.seconds = append(r.jobs, j), append(r.seconds, number(line[5]))
		r.rounds = append(r.rounds, int(number(line[0])))
	}
}

// replay lets a plan's points take what they took, several at once, as a sweep would run
// them, and calls visit with what is left by its estimate, in truth, and of all, whenever a
// point has ended. before prepares the sweep.
func (r *recorded) replay(atOnce int, before func(*sweeper), visit func(at, estimated, left, all float64)) {
	s := &sweeper{
		jobs: r.jobs, atOnce: atOnce, shown: newSweepProgress(io.Discard),
		round: func(i int) int { return r.rounds[i] },
	}
	for i := range r.jobs {
		s.missing = append(s.missing, i)
	}
	before(s)
	queue := s.order()
	type running struct {
		job          int
		began, until float64
	}
	// When each begins and ends is known beforehand.
	busy := make([]float64, atOnce)
	var list []running
	all := 0.0
	for _, i := range queue {
		first := 0
		for w := range busy {
			if busy[w] < busy[first] {
				first = w
			}
		}
		list = append(list, running{i, busy[first], busy[first] + r.seconds[i]})
		busy[first] += r.seconds[i]
		all = max(all, busy[first])
	}
	s.shown.begin(s, queue)
	ended := map[int]bool{}
	for range list {
		next := -1
		for k := range list {
			if !ended[k] && (next < 0 || list[k].until < list[next].until) {
				next = k
			}
		}
		ended[next] = true
		now := list[next].until
		for k := range list {
			if x := &list[k]; !ended[k] && x.began < now {
				s.shown.state[x.job] = min(0.99, (now-x.began)/(x.until-x.began))
			}
		}
		p := &points.Point{}
		p.Result.Verdict = results.Pass
		s.shown.done(list[next].job, inSeconds(list[next].until-list[next].began), p, nil)
		left, _ := s.shown.remaining()
		visit(now, left.Seconds(), all-now, all)
	}
}

// worst is the largest error of the time left, as a share of what is left, from a tenth of
// the plan on and until a twentieth is left, in which single points are most of it.
func (r *recorded) worst(atOnce int, before func(*sweeper)) (worst, at float64) {
	r.replay(atOnce, before, func(now, estimated, left, all float64) {
		if now < all/10 || left < all/20 {
			return
		}
		if e := math.Abs(estimated-left) / left; e > worst {
			worst, at = e, now/all
		}
	})
	return worst, at
}

const estimateHolds = 0.25

// From a tenth of a plan on the estimate of the time left is right within 25 %, with one, two
// and more points at once.
func TestEstimateOfTheTimeLeft(t *testing.T) {
	r := recordedPlan(t, "testdata/estimate.csv")
	for _, atOnce := range []int{1, 2, 4} {
		worst, at := r.worst(atOnce, func(*sweeper) {})
		t.Logf("%d points, %d at once: off by up to %.0f %%, at %.0f %% of the plan", len(r.jobs), atOnce, 100*worst,
			100*at)
		if worst > estimateHolds {
			t.Errorf("with %d at once it is off by %.0f %% at %.0f %% of the plan", atOnce, 100*worst, 100*at)
		}
	}
}

// What points took before helps from the first one on, also where that was on a machine of
// another speed.
func TestEstimateKnowsEarlierPoints(t *testing.T) {
	r := recordedPlan(t, "testdata/estimate.csv")
	for _, slower := range []float64{1, 3, 0.3} {
		worst, at := r.worst(2, func(s *sweeper) {
			for i := range r.jobs {
				if i%3 == 0 { // of these there are points by other seeds
					s.shown.learn(&r.jobs[i], slower*r.seconds[i])
				}
			}
		})
		if worst > estimateHolds {
			t.Errorf("earlier points %.1f times slower: off by %.0f %% at %.0f %% of the plan", slower, 100*worst,
				100*at)
		}
	}
}

// A kind that few points are known of is near to what its wider kind has.
func TestEstimateOfAPoint(t *testing.T) {
	job := func(protocol, sizes string, load, cost float64) *sweep.Job {
		j := &sweep.Job{Cost: cost}
		j.Experiment.Protocol = protocol
		j.Experiment.Streams = []traffic.Stream{{Sizes: sizes, Load: load}}
		return j
	}
	e := newEstimate()
	if s, known := e.seconds(job("sird", "wka", 0.5, 3)); s != 3 || known {
		t.Errorf("of nothing: %v, %v", s, known)
	}
	for range 50 {
		e.learn(job("sird", "wka", 0.5, 1), 2, true)
		e.learn(job("homa", "wka", 0.5, 1), 1, true)
	}
	for _, c := range []struct {
		j    *sweep.Job
		want float64
	}{
		{job("sird", "wka", 0.5, 10), 20}, {job("homa", "wka", 0.5, 10), 10}, {job("homa", "wkc", 0.9, 10), 10},
		{job("dctcp", "wka", 0.5, 10), 15}, // of neither
	} {
		if s, known := e.seconds(c.j); math.Abs(s-c.want) > 0.1*c.want || !known {
			t.Errorf("%s %s: %v s (%v), want %v", c.j.Experiment.Protocol, c.j.Experiment.Streams[0].Sizes, s, known,
				c.want)
		}
	}
}

// What a point of kernel TCP took on virtual, hundreds of times its cost, says nothing of
// points on model: --for would leave them out as too long.
func TestEstimateKeepsEnginesApart(t *testing.T) {
	job := func(engine emu.EngineName) *sweep.Job {
		j := &sweep.Job{Engine: engine, Cost: 1}
		j.Experiment.Protocol = "sird"
		return j
	}
	e := newEstimate()
	for range 50 {
		e.learn(job(emu.Virtual), 300, true)
	}
	if s, known := e.seconds(job(emu.Model)); s != 1 || known {
		t.Errorf("of virtual alone: %v s, known %v; want the cost, unknown", s, known)
	}
	e.learn(job(emu.Model), 2, false)
	if s, known := e.seconds(job(emu.Model)); s != 2 || !known {
		t.Errorf("of one point on model: %v s, known %v; want 2 s", s, known)
	}
}
