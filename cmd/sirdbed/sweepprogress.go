package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"sirdbed/capture/points"
	"sirdbed/capture/results"
	"sirdbed/scenarios/sweep"
	"sirdbed/topo/units"
)

// A sweepProgress shows how far a sweep has come and how long it will still take: as a bar
// on a terminal, by a line for each point that has ended. Its methods are safe for
// concurrent use.
type sweepProgress struct {
	w     io.Writer
	mu    sync.Mutex
	s     *sweeper
	bar   *progressbar.ProgressBar
	queue []int           // the jobs to run, of the round that is on
	of    int             // of that and earlier rounds, how many jobs
	state map[int]float64 // by job: the share that is done; 1: ended or left out
	took  estimate
	ended int // points that have ended, whether they failed or not

	// What remaining said last, when, and how long it took: see roughly.
	left           time.Duration
	share          float64
	asked          time.Time
	answeredWithin time.Duration
}

func newSweepProgress(w io.Writer) *sweepProgress {
	return &sweepProgress{w: w, state: map[int]float64{}, took: newEstimate()}
}

// learn takes what a point took that was there before.
func (p *sweepProgress) learn(j *sweep.Job, seconds float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.took.learn(j, seconds, false)
}

func (p *sweepProgress) begin(s *sweeper, queue []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.s, p.queue = s, queue
	p.of += len(queue)
	if isTerminal(p.w) {
		p.bar = progressbar.NewOptions(1000, progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(30),
			progressbar.OptionSetPredictTime(false), progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(100*time.Millisecond))
	}
}

// expected is how long a job takes.
func (p *sweepProgress) expected(j *sweep.Job) (time.Duration, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, known := p.took.seconds(j)
	return inSeconds(s), known
}

// remaining is how much longer the sweep takes, and done the share of it that is done.
func (p *sweepProgress) remaining() (left time.Duration, done float64) {
	open, all, longest := 0.0, 0.0, 0.0
	for _, i := range p.queue {
		s, _ := p.took.seconds(&p.s.jobs[i])
		all += s
		open += s * (1 - p.state[i])
		longest = max(longest, s*(1-p.state[i]))
	}
	if all == 0 {
		return 0, 1
	}
	seconds := max(open/float64(p.s.atOnce), longest)
	return inSeconds(seconds), 1 - open/all
}

// askingShare is the share of the time that may go into saying how much is left: it is a sum over
// all points.
const askingShare = 0.02

// roughly is remaining, or what that said a moment ago.
func (p *sweepProgress) roughly() (left time.Duration, done float64) {
	if now := time.Now(); p.asked.IsZero() || now.Sub(p.asked).Seconds() > p.answeredWithin.Seconds()/askingShare {
		p.asked = now
		p.left, p.share = p.remaining()
		p.answeredWithin = time.Since(now)
	}
	return p.left, p.share
}

// reached notes how far a point has come.
func (p *sweepProgress) reached(i int, at units.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if end := p.s.jobs[i].Experiment.End(); end > 0 {
		p.state[i] = min(0.99, float64(at)/float64(end))
	}
	p.draw()
}

func (p *sweepProgress) draw() {
	if p.bar == nil {
		return
	}
	left, done := p.roughly()
	p.bar.Describe(fmt.Sprintf("%d points to go, %s left", p.open(), rough(left)))
	p.bar.Set(min(int(done*1000), 999))
}

func (p *sweepProgress) open() (n int) {
	for _, i := range p.queue {
		if p.state[i] < 1 {
			n++
		}
	}
	return n
}

// running notes how many points run at once.
func (p *sweepProgress) running(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.s.atOnce = max(n, 1)
	p.draw()
}

// say writes a line.
func (p *sweepProgress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Clear()
	}
	fmt.Fprintf(p.w, format+"\n", args...)
	p.draw()
}

// leave notes that a point is not run.
func (p *sweepProgress) leave(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state[i] = 1
}

// done notes that a point has ended, and how.
func (p *sweepProgress) done(i int, took time.Duration, point *points.Point, err error) {
	j := &p.s.jobs[i]
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.took.learn(j, took.Seconds(), true)
	}
	p.state[i] = 1
	if p.bar != nil {
		p.bar.Clear()
	}
	outcome := "done"
	switch {
	case err != nil:
		outcome = fmt.Sprintf("failed: %v", err)
	case point.Unbounded != "":
		outcome = "ended early: " + point.Unbounded
	case point.Result.Verdict != results.Pass:
		outcome = string(point.Result.Verdict)
	}
	left, _ := p.roughly()
	p.ended++
	fmt.Fprintf(p.w, "[%d/%d] %s: %s in %s; %s left\n", p.ended, p.of, j.Name(), outcome, rough(took),
		rough(left))
	p.draw()
}

// end removes the bar.
func (p *sweepProgress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Clear()
	}
}

// rough is a duration as people say it.
func rough(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
