package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sirdbed/capture/points"
	"sirdbed/emu"
	"sirdbed/emu/tree"
	"sirdbed/scenarios/sweep"
	"sirdbed/topo/units"
)

// taskFormat is the number of the format of point tasks and their outcomes.
const taskFormat = 1

// A pointTask is a point of a sweep as another machine gets it: a file that the submitter
// writes, so that no scenario is read there.
type pointTask struct {
	Format     int            `json:"format"`
	Name       string         `json:"name"`
	Engine     emu.EngineName `json:"engine"`
	Experiment emu.Experiment `json:"experiment"`
	Key        string         `json:"key"`
	Code       string         `json:"code"` // of the submitter's program: see package code
	// Until is when the sweep's time is up, zero if it never is; ExpectedSeconds how long
	// the point takes, zero if that is not known.
	Until           time.Time `json:"until,omitzero"`
	ExpectedSeconds float64   `json:"expected_seconds,omitempty"`
}

// A pointOutcome is how a point task ended, in a file beside the task's. A task whose process or
// machine died has none.
type pointOutcome struct {
	Format      int     `json:"format"`
	Ended       ended   `json:"ended"`
	Error       string  `json:"error,omitempty"`
	WallSeconds float64 `json:"wall_seconds"` // what the point took
}

// An ended says how a point task ended.
type ended string

const (
	endedDone   ended = "done" // the point is in the store
	endedFailed ended = "failed"
	endedLate   ended = "late" // there was no time for it
)

// The files of a task, by its number in its array.
func taskFile(task int) string { return fmt.Sprintf("%d.json", task) }
func taskLog(task int) string  { return fmt.Sprintf("%d.log", task) }

// outcomeFile is the name of the outcome of the task in a file.
func outcomeFile(task string) string { return strings.TrimSuffix(task, ".json") + ".outcome.json" }

func newSweepPoint() *cobra.Command {
	var store string
	c := &cobra.Command{
		Use:    "point FILE",
		Short:  "Run one point that sweep --slurm has written",
		Long:   text(sweepPointHelp),
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return sweepPoint(c.Context(), args[0], store, c.ErrOrStderr())
		},
	}
	c.Flags().StringVar(&store, "points", pointsDir, "keep the point in `DIRECTORY`")
	return c
}

const sweepPointHelp = `
	Run the point in FILE, keep it, and write how that ended beside FILE: NAME.outcome.json for NAME.json. This is what
	Slurm's nodes run; by hand it repeats a point that failed. A point that is already there is not run again, and one
	written by a sirdbed with other code is refused.`

// sweepPoint runs the point in a file. Interrupted, it writes no outcome.
func sweepPoint(ctx context.Context, path, store string, stderr io.Writer) error {
	dir, err := tree.Open(filepath.Dir(path))
	if err != nil {
		return badInput(err)
	}
	defer dir.Close()
	file := filepath.Base(path)
	t, err := readTask(dir, file)
	if err != nil {
		return badInput(err)
	}
	o, err := t.run(ctx, store)
	if err != nil {
		return err
	}
	o.Format = taskFormat
	if err := dir.WriteJSON(outcomeFile(file), o); err != nil {
		return explainPoints(err, dir.Path())
	}
	fmt.Fprintf(stderr, "%s: %s in %s\n", t.Name, cmp.Or(o.Error, string(o.Ended)), rough(inSeconds(o.WallSeconds)))
	if o.Ended == endedFailed {
		return &codedError{exitFailed, errReported}
	}
	return nil
}

// readTask reads a task strictly.
func readTask(dir *tree.Dir, name string) (*pointTask, error) {
	text, err := dir.Read(name)
	if err != nil {
		return nil, err
	}
	t := &pointTask{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(t); err != nil {
		return nil, fmt.Errorf("%s is not a point of sirdbed sweep --slurm: %w", dir.At(name), err)
	}
	if t.Format != taskFormat {
		return nil, fmt.Errorf("%s has format %d: this sirdbed has %d", dir.At(name), t.Format, taskFormat)
	}
	return t, nil
}

// run returns how the task ended. Its error says that it was interrupted.
func (t *pointTask) run(ctx context.Context, store string) (*pointOutcome, error) {
	began := time.Now()
	if t.late(began) {
		return &pointOutcome{Ended: endedLate}, nil
	}
	within := ctx
	if !t.Until.IsZero() {
		var cancel context.CancelFunc
		within, cancel = context.WithDeadline(ctx, t.Until)
		defer cancel()
	}
	seconds, err := t.keep(within, store)
	o := &pointOutcome{Ended: endedDone, WallSeconds: cmp.Or(seconds, time.Since(began).Seconds())}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, &codedError{exitStopped, fmt.Errorf("%s: interrupted", t.Name)}
	case errors.Is(within.Err(), context.DeadlineExceeded):
		o.Ended = endedLate
	default:
		o.Ended, o.Error = endedFailed, err.Error()
	}
	return o, nil
}

// late reports whether the task would not end in time.
func (t *pointTask) late(now time.Time) bool {
	return !t.Until.IsZero() && t.Until.Sub(now) <= inSeconds(t.ExpectedSeconds)
}

// keep runs the point, unless the store has it, and keeps it there. It returns how many
// seconds its run took.
func (t *pointTask) keep(ctx context.Context, path string) (seconds float64, err error) {
	if err := engineExists(t.Engine); err != nil {
		return 0, err
	}
	address, err := points.AddressOf(t.Engine, &t.Experiment)
	if err != nil {
		return 0, err
	}
	if want := (points.Address{Key: t.Key, Code: t.Code}); address != want {
		host, _ := os.Hostname()
		return 0, fmt.Errorf("sirdbed on %s is another one than the submitter's: point %s by code %s, want %s by %s; "+
			"install the same binary on all nodes", host, address.Key, address.Code, want.Key, want.Code)
	}
	store, err := points.OpenStore(path)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	if p := store.Fit(address); p != nil {
		return p.Result.WallSeconds, nil
	}
	if err := engines[t.Engine].make(whileUp{}).Check(&t.Experiment); err != nil {
		return 0, err
	}
	if err := store.Prepare(); err != nil {
		return 0, fmt.Errorf("the point could not be kept: %w", explainPoints(err, path))
	}
	j := &sweep.Job{Experiment: t.Experiment, Engine: t.Engine, Address: address}
	p, err := runner(runPoint).guarded(ctx, j, func(units.Time) {}, patience)
	if err != nil {
		return 0, err
	}
	_, err = store.Put(p)
	return p.Result.WallSeconds, explainPoints(err, path)
}
