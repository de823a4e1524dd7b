//go:build !portable

package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// buildProgress shows how far a build of the guest kernel has come: its step, and
// how much is compiled, as a bar on a terminal and in tenths elsewhere.
type buildProgress struct {
	w       io.Writer
	started time.Time
	bar     *progressbar.ProgressBar // of compiling, on a terminal
	tenths  int                      // written
}

func newBuildProgress(w io.Writer) *buildProgress { return &buildProgress{w: w, started: time.Now()} }

// step begins the next step.
func (p *buildProgress) step(text string) {
	p.end()
	p.tenths = 0
	fmt.Fprintf(p.w, "%3.0f s  %s\n", time.Since(p.started).Seconds(), text)
}

// compiled shows how many files have been compiled of about how many.
func (p *buildProgress) compiled(n, of int) {
	if isTerminal(p.w) {
		if p.bar == nil {
			p.bar = progressbar.NewOptions(of,
				progressbar.OptionSetWriter(p.w),
				progressbar.OptionSetDescription("       compiling"),
				progressbar.OptionSetWidth(30),
				progressbar.OptionThrottle(100*time.Millisecond),
				progressbar.OptionSetPredictTime(true),
				progressbar.OptionSetElapsedTime(true),
				progressbar.OptionClearOnFinish(),
			)
		}
		p.bar.Set(min(n, of-1))
		return
	}
	if tenths := 10 * n / of; tenths > p.tenths {
		p.tenths = tenths
		fmt.Fprintf(p.w, "%3.0f s    %d %% of about %d files\n", time.Since(p.started).Seconds(), 10*tenths, of)
	}
}

// end removes the bar.
func (p *buildProgress) end() {
	if p.bar != nil {
		p.bar.Finish()
		p.bar = nil
	}
}
