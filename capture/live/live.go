// Package live is what can be seen of a run while it goes on: a page on loopback, and the
// same in a terminal. It reads the tails of the raw logs as they are appended, from
// outside the fabric: hosts and engines do nothing for it.
package live

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"sirdbed/emu"
	"sirdbed/emu/tree"
	"sirdbed/topo/units"
)

// A Run is a scenario's run as it is looked at. Its methods may be called from any
// goroutine.
type Run struct {
	mu       sync.Mutex
	about    About
	variants []*seen
	current  int // index, -1: none yet
	ended    bool
	why      string // what keeps the logs from being read, "" of nothing
}

// About says what is run.
type About struct {
	Scenario string         `json:"scenario"`
	Engine   emu.EngineName `json:"engine"`
	Dir      string         `json:"dir"` // of the result
	Variants []string       `json:"variants"`
}

// A State is how far a variant has come.
type State string

// The states of a variant.
const (
	Waiting State = "waiting"
	Running State = "running"
	Done    State = "done"
	Failed  State = "failed"
)

// A seen is a variant of the run.
type seen struct {
	name    string
	state   State
	started time.Time
	took    time.Duration
	reached units.Time
	last    *Glance // when it ended
	reader  *reader // nil while it waits
}

// A Cost is what the looking has taken, but for processor time.
type Cost struct{ Reads, Bytes int64 }

// NewRun returns a run that is about to begin. It owns no files until Begin.
func NewRun(about About) *Run {
	r := &Run{about: about, current: -1}
	for _, name := range about.Variants {
		r.variants = append(r.variants, &seen{name: name, state: Waiting})
	}
	return r
}

// Begin begins variant i, whose raw logs are in dir, which Begin closes in the end. err is
// why they cannot be read, nil if they can.
func (r *Run) Begin(i int, dir *tree.Dir, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i < 0 || i >= len(r.variants) {
		return fmt.Errorf("there is no variant number %d", i)
	}
	r.leave()
	v := r.variants[i]
	v.state, v.started = Running, time.Now()
	r.current = i
	if err != nil {
		r.why = err.Error()
		return err
	}
	v.reader = &reader{dir: emu.RunDir{Dir: dir}}
	return nil
}

// leave gives back the logs of the variant that was looked at.
func (r *Run) leave() {
	if r.current >= 0 && r.variants[r.current].reader != nil {
		r.variants[r.current].reader.close()
		r.variants[r.current].reader = nil
	}
}

// Reached takes the nominal time that the current variant has come to.
func (r *Run) Reached(at units.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current >= 0 {
		v := r.variants[r.current]
		v.reached = max(v.reached, at)
	}
}

// Look reads what the logs of the current variant have that is new.
func (r *Run) Look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.look()
}

func (r *Run) look() {
	if r.current < 0 || r.variants[r.current].reader == nil || r.variants[r.current].state != Running {
		return
	}
	if err := r.variants[r.current].reader.look(); err != nil {
		r.why = err.Error()
	}
}

// End takes a last look at the current variant, which has ended, and returns what the
// looking has cost.
func (r *Run) End(failed bool) (Cost, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current < 0 {
		return Cost{}, errors.New("no variant has begun")
	}
	r.look()
	v := r.variants[r.current]
	v.state, v.took = Done, time.Since(v.started)
	if failed {
		v.state = Failed
	}
	v.last = r.glance()
	if v.reader == nil {
		return Cost{}, nil
	}
	return Cost{v.reader.reads, v.reader.bytes}, nil
}

// Finish says that the run has ended.
func (r *Run) Finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}

// Close gives back all files.
func (r *Run) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leave()
}
