package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"sirdbed/capture/live"
	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/emu/tree"
	"sirdbed/topo/units"
)

// The viewer is the process that shows a run while it goes on, outside the fabric's
// namespaces and as the user who called sirdbed. It reads the logs, and is told by the
// run what to read, one line of JSON a message, on its standard input. It answers on its
// standard output. It ends with its input, and so with the run, however that ends.

// viewerCommand is the argument with which sirdbed is started as the viewer.
const viewerCommand = "live-viewer"

// A viewerMessage is what the run sends: one of these.
type viewerMessage struct {
	Run     *viewerRun  `json:"run,omitempty"`     // the first one
	Variant *int        `json:"variant,omitempty"` // begins
	Reached *units.Time `json:"reached,omitempty"`
	Ended   *bool       `json:"ended,omitempty"` // the variant has; whether it failed. It is answered
	Pause   bool        `json:"pause,omitempty"` // draw no more in this variant. It is answered
	Finish  bool        `json:"finish,omitempty"`
}

// A viewerRun is what is run, and how it is shown.
type viewerRun struct {
	live.About
	Page  bool `json:"page"`
	Watch bool `json:"watch"`
}

// Times of the viewer, by the wall clock.
const (
	lookEvery      = 400 * time.Millisecond // between two looks at the logs, and two frames
	viewerPatience = 1200 * time.Millisecond
)

// A viewer is the state of that process.
type viewer struct {
	out      io.Writer // answers
	tty      io.Writer // where it draws, or writes lines
	run      *live.Run
	about    live.About
	server   *live.Server   // nil without the page
	terminal *live.Terminal // nil where there is none
	lines    bool           // plain ones, now and then
	written  time.Time      // the last one
	paused   bool
	cpu      time.Duration // that was used when the variant began
}

// viewerMain is the viewer.
func viewerMain() int {
	// The run ends, and this process with its input.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	ignoreTerminalSignals()
	giveWay()
	messages := json.NewDecoder(os.Stdin)
	var first viewerMessage
	if !fedBySirdbed() || messages.Decode(&first) != nil || first.Run == nil {
		err := fmt.Errorf("%s: %w", viewerCommand, emu.ErrInner)
		fmt.Fprintln(os.Stderr, err)
		return codeOf(err)
	}
	v := &viewer{out: os.Stdout, tty: os.Stderr}
	if err := v.begin(first.Run); err != nil {
		fmt.Fprintf(os.Stderr, "warning: %v\n", err)
	}
	defer v.close()
	v.serve(messages)
	return exitFine
}

// fedBySirdbed reports whether standard input is a pipe or socket, as sirdbed makes it.
func fedBySirdbed() bool {
	info, err := os.Stdin.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

func (v *viewer) begin(r *viewerRun) (err error) {
	v.about, v.run = r.About, live.NewRun(r.About)
	if r.Watch && isTerminal(v.tty) {
		v.terminal = live.NewTerminal(v.tty, func() (columns, rows int) {
			columns, rows, err := term.GetSize(int(os.Stderr.Fd()))
			if err != nil || columns <= 0 || rows <= 0 {
				return 80, 24
			}
			return columns, rows
		})
	}
	v.lines = r.Watch && v.terminal == nil
	if r.Page {
		if v.server, err = live.Listen(v.run); err == nil {
			fmt.Fprintf(v.tty, "live view: %s\n", v.server.URL())
		}
	}
	return err
}

// serve does what the run says, and looks at its logs in between, until the run's end.
func (v *viewer) serve(messages *json.Decoder) {
	incoming := make(chan viewerMessage)
	go func() {
		defer close(incoming)
		for {
			var m viewerMessage
			if messages.Decode(&m) != nil {
				return
			}
			incoming <- m
		}
	}()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			v.run.Look()
			v.draw(false)
		case m, ok := <-incoming:
			if !ok || v.take(&m) {
				return
			}
		}
	}
}

// take does what a message says, and reports whether it was the last.
func (v *viewer) take(m *viewerMessage) (last bool) {
	switch {
	case m.Variant != nil:
		v.variant(*m.Variant)
	case m.Reached != nil:
		v.run.Reached(*m.Reached)
	case m.Pause:
		v.run.Look()
		v.draw(true)
		v.leave()
		v.paused = true
		v.answer(emu.LiveFacts{})
	case m.Ended != nil:
		cost, _ := v.run.End(*m.Ended)
		v.draw(true)
		v.leave()
		v.answer(emu.LiveFacts{CPU: (processorTime() - v.cpu).Seconds(), Reads: cost.Reads, Bytes: cost.Bytes})
	case m.Finish:
		v.run.Finish()
		if v.server != nil {
			_ = v.server.Close(viewerPatience)
		}
	}
	return m.Finish
}

// variant begins to look at a variant.
func (v *viewer) variant(i int) {
	v.cpu, v.paused = processorTime(), false
	if i < 0 || i >= len(v.about.Variants) {
		return
	}
	result, err := tree.Open(v.about.Dir)
	var dir *tree.Dir
	if err == nil {
		dir, err = result.Sub(results.VariantsDir + "/" + v.about.Variants[i])
		result.Close()
	}
	if v.run.Begin(i, dir, err) != nil {
		fmt.Fprintf(v.tty, "warning: the live view cannot read the logs: %v\n", err)
	}
	v.written = time.Now()
}

// draw shows how far the run has come: in a terminal, or as a line now and then, and at
// the end of a variant.
func (v *viewer) draw(last bool) {
	g := v.run.Glance()
	if v.paused || g == nil || !last && g.State != live.Running {
		return
	}
	switch {
	case v.terminal != nil:
		_ = v.terminal.Draw(v.about, g) // a terminal that is gone shows nothing
	case v.lines && (last || time.Since(v.written) >= plainEvery):
		v.written = time.Now()
		fmt.Fprintln(v.tty, live.Plain(g))
	}
}

// leave leaves the terminal to the run.
func (v *viewer) leave() {
	if v.terminal != nil {
		v.terminal.Leave()
	}
}

func (v *viewer) answer(f emu.LiveFacts) {
	if err := json.NewEncoder(v.out).Encode(f); err != nil && !errors.Is(err, syscall.EPIPE) {
		fmt.Fprintf(v.tty, "warning: live view: %v\n", err)
	}
}

func (v *viewer) close() {
	if v.server != nil {
		_ = v.server.Close(0)
	}
	v.run.Close()
}
