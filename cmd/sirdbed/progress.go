package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"sirdbed/emu"
	"sirdbed/topo/units"
)

// plainEvery is how often progress is written where there is no terminal.
const plainEvery = 5 * time.Second

// A progress shows how far a variant has come: as a bar on a terminal, as a line
// now and then elsewhere. It goes to stderr, so that results can be piped.
type progress struct {
	w     io.Writer
	label string
	end   units.Time
	bar   *progressbar.ProgressBar // nil: plain lines
	view  *viewing                 // nil: nobody else shows it
	quiet bool                     // the viewer shows how far it has come
	crew  *crew                    // those that run beside it, whose bar is one; nil: none do
	i     int                      // its number

	mu      sync.Mutex
	started time.Time
	written time.Time // the last line
	shared  string    // how guests with one clock have met; "" where there was one guest
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// newProgress begins to show variant number i (from 0) of n, or nothing if off. With quiet
// only what ends it or holds it up is shown.
func newProgress(w io.Writer, off, quiet bool, x *emu.Experiment, i, n int, c *crew) *progress {
	if off {
		w, c = io.Discard, nil
	}
	p := &progress{
		w: w, label: fmt.Sprintf("[%d/%d] %s", i+1, n, x.Variant),
		end: x.End(), started: time.Now(), written: time.Now(), quiet: quiet,
		crew: c, i: i,
	}
	switch {
	case quiet, c.shown():
	case isTerminal(w):
		p.bar = newBar(w, p.label, p.end)
	default:
		fmt.Fprintf(w, "%s: %v nominal\n", p.label, p.end)
	}
	return p
}

// reached shows how far the run has come. It may be called from any goroutine.
func (p *progress) reached(at units.Time) {
	p.view.reached(at)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet {
		return
	}
	if p.crew.shown() {
		p.crew.reached(p.i, min(at, p.end))
		return
	}
	if p.bar != nil {
		p.bar.Set64(int64(min(at, p.end-1)))
		return
	}
	if now := time.Now(); now.Sub(p.written) >= plainEvery {
		p.written = now
		fmt.Fprintf(p.w, "%s: %.1f of %.1f ms nominal, %.0f s so far\n",
			p.label, at.Milliseconds(), p.end.Milliseconds(), now.Sub(p.started).Seconds())
	}
}

// pause writes a line on why the run makes no progress for now.
func (p *progress) pause(why string) {
	p.view.pause()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Clear()
	}
	fmt.Fprintf(p.w, "%s: %s\n", p.label, why)
}

// met keeps how guests that share a clock have waited for one another, for done.
func (p *progress) met(times int64, waited []time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var each []string
	for _, w := range waited {
		each = append(each, fmt.Sprintf("%.1f s", w.Seconds()))
	}
	p.shared = fmt.Sprintf("; %d guests met %d times, and waited %s for one another", len(waited), times,
		strings.Join(each, ", "))
}

// done ends it with a line on how the run went.
func (p *progress) done(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Finish()
	}
	if p.crew.shown() {
		defer p.crew.ended(p.i)()
	}
	took := time.Since(p.started).Seconds()
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(p.w, "%s: interrupted after %.1f s\n", p.label, took)
	case err != nil:
		fmt.Fprintf(p.w, "%s: FAILED after %.1f s: %v\n", p.label, took, err)
	default:
		fmt.Fprintf(p.w, "%s: done in %.1f s%s\n", p.label, took, p.shared)
	}
}
