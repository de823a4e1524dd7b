package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"sirdbed/capture/live"
	"sirdbed/emu"
	"sirdbed/topo/units"
)

// A viewing is the viewer as the run sees it. nil: nobody looks. What goes wrong with it
// disturbs no run. It is for one goroutine but for reached.
type viewing struct {
	in      io.Closer // of the viewer
	out     chan viewerMessage
	answers chan emu.LiveFacts // closed when the viewer has ended
	flushed chan struct{}      // closed when the last message has been written
	wait    func()             // for the viewer's end, nil if that is the front's to do
	lost    bool
}

// answerTimeout is how long the run waits for the viewer, by the wall clock. Of 144 hosts
// it reads some 100 MB a second.
const answerTimeout = 10 * time.Second

// newViewing is that of a viewer which reads in and writes out.
func newViewing(in io.WriteCloser, out io.Reader, wait func()) *viewing {
	v := &viewing{
		in: in, wait: wait,
		out: make(chan viewerMessage, 64), answers: make(chan emu.LiveFacts), flushed: make(chan struct{}),
	}
	go func() {
		defer close(v.flushed)
		defer in.Close()
		to := json.NewEncoder(in)
		for m := range v.out {
			_ = to.Encode(m) // to nobody, once it has ended
			if m.Finish {
				return
			}
		}
	}()
	go func() {
		defer close(v.answers)
		for from := json.NewDecoder(out); ; {
			var f emu.LiveFacts
			if from.Decode(&f) != nil {
				return
			}
			v.answers <- f
		}
	}()
	return v
}

// begin says what is run.
func (v *viewing) begin(r *scenarioRun) {
	if v == nil {
		return
	}
	dir, err := filepath.Abs(r.dir.Path())
	if err != nil {
		dir = r.dir.Path()
	}
	about := live.About{Scenario: r.scenario.Name, Engine: r.engine, Dir: dir, Variants: r.labels()}
	v.send(viewerMessage{Run: &viewerRun{About: about, Page: r.show.live, Watch: r.show.watch}})
}

// variant says that variant i begins, whose directory is there.
func (v *viewing) variant(i int) { v.send(viewerMessage{Variant: &i}) }

// reached says how far it has come. It may be called from any goroutine.
func (v *viewing) reached(at units.Time) {
	if v == nil {
		return
	}
	select {
	case v.out <- viewerMessage{Reached: &at}:
	default: // the viewer is behind, and the next one says more
	}
}

// pause has the viewer leave the terminal alone until the next variant.
func (v *viewing) pause() {
	if v != nil {
		v.ask(viewerMessage{Pause: true})
	}
}

// ended says that the variant has, and returns what looking at it has taken.
func (v *viewing) ended(failed bool) *emu.LiveFacts {
	if v == nil {
		return nil
	}
	return v.ask(viewerMessage{Ended: &failed})
}

// finish says that the run has ended, and waits for the viewer's end.
func (v *viewing) finish() {
	if v == nil {
		return
	}
	v.send(viewerMessage{Finish: true})
	if !v.lost {
		select {
		case <-v.flushed:
		case <-time.After(answerTimeout):
		}
	}
	v.in.Close() // it may be closed already
	if v.wait != nil {
		v.wait()
	}
}

// send sends a message, unless the viewer takes none any more.
func (v *viewing) send(m viewerMessage) {
	if v == nil || v.lost {
		return
	}
	select {
	case v.out <- m:
	case <-time.After(answerTimeout):
		v.lost = true
	}
}

// ask sends a message and waits for the answer.
func (v *viewing) ask(m viewerMessage) *emu.LiveFacts {
	v.send(m)
	if !v.lost {
		select {
		case f, ok := <-v.answers:
			if ok {
				return &f
			}
		case <-time.After(answerTimeout):
		}
	}
	v.lost = true
	return &emu.LiveFacts{Lost: true}
}

// viewerGrace is how long the viewer may take to end, by the wall clock.
const viewerGrace = 5 * time.Second

// viewerProcess is the viewer's process, not started.
func viewerProcess(self string) *exec.Cmd {
	cmd := exec.Command(self, viewerCommand)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1") // it has a processor at most
	return cmd
}

// startViewer starts the viewer of a run in this process.
func startViewer() (*viewing, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("live view: %w", err)
	}
	cmd := viewerProcess(self)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("live view: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("live view: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("live view: %w", err)
	}
	return newViewing(in, out, func() { endViewer(cmd) }), nil
}

// endViewer waits for the viewer's end, and brings it about if that takes too long.
func endViewer(cmd *exec.Cmd) {
	kill := time.AfterFunc(viewerGrace, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	_ = cmd.Wait()
}
