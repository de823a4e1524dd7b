package emu

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"sirdbed/topo/units"
)

// An App is a program that runs in a node during an experiment, beside its traffic or
// instead of it. Its times are by the program's own clock, which is the kernel's and is
// not stretched.
type App struct {
	// What it is called in the results, and in after; the program's name and the host's
	// unless given.
	Name string `json:"name,omitempty" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]*$"`
	// The host or switch that it runs in.
	Host string `json:"host"`
	// The program and its arguments. Hosts have their names: [ping, h1-2].
	Run []string `json:"run"`
	// The programs, by name, that have to be ready before it starts.
	After []string `json:"after,omitempty"`
	// When it is ready: "port N" (TCP, listening in its host), "file PATH", "output REGEXP"
	// (a line of its output), or "exit"; started (default) is at once.
	Ready string `json:"ready,omitempty"`
	// How long it may take to be ready, 30s unless given.
	ReadyWithin units.Time `json:"ready_within,omitempty"`
	// How long it may run before it is ended, and has failed; for as long as the run
	// unless given.
	Timeout units.Time `json:"timeout,omitempty"`
	// Whether the run goes on without waiting for its end. Unless given, that is so for
	// programs that are ready by a port, a file or their output, and that expect no exit.
	Daemon *bool `json:"daemon,omitempty"`
	// no (default), or on-failure: start it again when it fails.
	Restart string `json:"restart,omitempty" jsonschema:"enum=no,enum=on-failure"`
	// How often it is started again at most, 3 unless given.
	Restarts int `json:"restarts,omitempty"`
	// How it has to end: "exit N", or any. Unless given, "exit 0" if it ends by itself.
	Expect string `json:"expect,omitempty"`
}

// Defaults of an App.
const (
	DefaultReadyWithin = 30 * units.Second
	DefaultRestarts    = 3
)

// The values of App.Restart.
const (
	RestartNo        = "no"
	RestartOnFailure = "on-failure"
)

// DefaultName is what an App is called that states no name.
func (a *App) DefaultName() string {
	if len(a.Run) == 0 {
		return ""
	}
	return strings.ToLower(path.Base(a.Run[0])) + "-" + a.Host
}

// A ReadyKind is what makes an App ready.
type ReadyKind int

// The kinds of readiness.
const (
	ReadyStarted ReadyKind = iota
	ReadyPort
	ReadyFile
	ReadyOutput
	ReadyExit
)

// A Readiness is App.Ready, understood.
type Readiness struct {
	Kind   ReadyKind
	Port   int
	Path   string
	Output *regexp.Regexp
}

// Readiness understands App.Ready.
func (a *App) Readiness() (r Readiness, err error) {
	kind, of, _ := strings.Cut(a.Ready, " ")
	of = strings.TrimSpace(of)
	switch {
	case a.Ready == "" || a.Ready == "started":
		return r, nil
	case a.Ready == "exit":
		r.Kind = ReadyExit
		return r, nil
	case kind == "port":
		r.Kind = ReadyPort
		r.Port, err = strconv.Atoi(of)
		if err != nil || r.Port < 1 || r.Port > 65535 {
			return r, fmt.Errorf("%q: want port 1 to port 65535", a.Ready)
		}
		return r, nil
	case kind == "file" && of != "":
		r.Kind, r.Path = ReadyFile, of
		return r, nil
	case kind == "output" && of != "":
		r.Kind = ReadyOutput
		if r.Output, err = regexp.Compile(of); err != nil {
			return r, fmt.Errorf("%q: %w", a.Ready, err)
		}
		return r, nil
	}
	return r, fmt.Errorf("%q: want port N, file PATH, output REGEXP, exit or started", a.Ready)
}

// ExpectedExit understands App.Expect: the exit code that the program has to end with. each
// reports that it may end with each.
func (a *App) ExpectedExit() (code int, each bool, err error) {
	if a.Expect == "any" {
		return 0, true, nil
	}
	if a.Expect == "" {
		return 0, false, nil
	}
	text, ok := strings.CutPrefix(a.Expect, "exit ")
	code, err = strconv.Atoi(strings.TrimSpace(text))
	if !ok || err != nil || code < 0 || code > 255 {
		return 0, false, fmt.Errorf("%q: want exit 0 to exit 255, or any", a.Expect)
	}
	return code, false, nil
}

// IsDaemon reports whether the run does not wait for the program's end.
func (a *App) IsDaemon() bool {
	if a.Daemon != nil {
		return *a.Daemon
	}
	r, err := a.Readiness()
	serves := r.Kind == ReadyPort || r.Kind == ReadyFile || r.Kind == ReadyOutput
	return err == nil && serves && a.Expect == ""
}

// AppFacts are what became of a program. Times are nominal.
type AppFacts struct {
	Name    string      `json:"name"`
	Host    string      `json:"host"`
	Started *units.Time `json:"started,omitempty"` // the latest time; nil if it never was
	Ready   *units.Time `json:"ready,omitempty"`   // nil if it never was
	Ended   *units.Time `json:"ended,omitempty"`   // nil if nothing was to end
	// Exit is the exit code of its latest end, 128 and the number of the signal if one
	// ended it; nil if it did not end by itself.
	Exit     *int   `json:"exit,omitempty"`
	Restarts int    `json:"restarts,omitempty"`
	Met      bool   `json:"met"`               // ended, or ran on, as expected
	Problem  string `json:"problem,omitempty"` // why it did not
	Output   string `json:"output,omitempty"`  // the file with what it printed, in the run's directory
	Bytes    int64  `json:"output_bytes"`      // that it printed
	Cut      bool   `json:"output_cut,omitempty"`
}

// KernelPackets counts packets of the kernels of all nodes, on their links.
type KernelPackets struct {
	Sent     int64 `json:"sent"`
	Received int64 `json:"received"`
	// SentBytes is what the hosts' among Sent have from their IP headers on.
	SentBytes units.Bytes `json:"sent_bytes"`
}

// NoApps is the error of an engine that has no kernel for an experiment with programs,
// nil for others.
func NoApps(x *Experiment) error {
	if len(x.Apps) == 0 {
		return nil
	}
	return Unsuited("programs (apps) need a kernel, and the model has none: use --engine real or --engine virtual", nil)
}
