package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/spf13/cobra"

	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/emu/tree"
	"sirdbed/scenarios"
	"sirdbed/scenarios/reproduce"
	"sirdbed/scenarios/sweep"
)

// The files of a sweep's results.
const (
	sweepParquet = "sweep.parquet"
	sweepJSON    = "sweep.json"
)

// A SweepRow is a row of sweep.parquet: a point. Columns are only ever added.
type SweepRow struct {
	Scenario string            `parquet:"scenario,dict" json:"scenario"`
	At       map[string]string `parquet:"at" json:"at"` // by axis: where the point is
	Variant  string            `parquet:"variant,dict" json:"variant"`
	Protocol string            `parquet:"protocol,dict" json:"protocol"`
	Engine   string            `parquet:"engine,dict" json:"engine"`
	Seed     int64             `parquet:"seed" json:"seed"`
	Key      string            `parquet:"key" json:"key"`
	Code     string            `parquet:"code,dict" json:"code"`
	Digest   string            `parquet:"digest" json:"digest"`
	Verdict  string            `parquet:"verdict,dict" json:"verdict"`
	Unstable bool              `parquet:"unstable" json:"unstable"`
	// Unbounded says that the run was ended early since a leaf's queue grew without bound.
	Unbounded bool `parquet:"unbounded" json:"unbounded"`

	OfferedGbps float64 `parquet:"offered_gbps" json:"offered_gbps"` // per host, as an unloaded fabric would receive it
	GoodputGbps float64 `parquet:"goodput_gbps" json:"goodput_gbps"` // per host
	Messages    int64   `parquet:"messages" json:"messages"`         // measured, of all streams but incast
	// Slowdown by the paper's definition, and until the acknowledgement (0: not of this
	// protocol).
	SlowdownP50  float64 `parquet:"slowdown_p50" json:"slowdown_p50"`
	SlowdownP99  float64 `parquet:"slowdown_p99" json:"slowdown_p99"`
	SlowdownMean float64 `parquet:"slowdown_mean" json:"slowdown_mean"`
	AckedP99     float64 `parquet:"slowdown_acked_p99" json:"slowdown_acked_p99"`
	// The sum over a leaf's ports, in bytes: over leaves and the window.
	LeafMax  int64   `parquet:"leaf_queue_max_bytes" json:"leaf_queue_max_bytes"`
	LeafMean float64 `parquet:"leaf_queue_mean_bytes" json:"leaf_queue_mean_bytes"`
	// QueueGrows says why a leaf's queue is taken to grow without bound, "" if it is not.
	QueueGrows string `parquet:"queue_grows" json:"queue_grows,omitempty"`
	// Paper is where in the paper's tables the point belongs, if it does; Hosts are the fabric's.
	Paper *reproduce.Place `parquet:"-" json:"paper,omitempty"`
	Hosts int64            `parquet:"hosts" json:"hosts"`

	Metrics map[string]float64 `parquet:"metrics" json:"metrics"` // those that were asked for

	WallSeconds float64 `parquet:"wall_seconds" json:"wall_seconds"`
}

// rows are the sweep's points that there are.
func (t *sweepTable) rows(scenario string) (list []SweepRow) {
	for i, p := range t.found {
		if p == nil {
			continue
		}
		r := sweepRow(&t.jobs[i], p)
		r.Scenario = scenario
		v, err := p.Variant(t.jobs[i].Name())
		if err != nil {
			continue
		}
		for k := range t.metrics {
			if x, err := t.metrics[k].Eval(v); err == nil {
				r.Metrics[heading(&t.metrics[k])] = x / scale(&t.metrics[k])
			}
		}
		list = append(list, r)
	}
	return list
}

func sweepRow(j *sweep.Job, p *points.Point) SweepRow {
	slow := p.Result.Slowdown[results.Paper][results.AllSizes]
	acked := p.Result.Slowdown[results.Acked][results.AllSizes]
	leaf := p.Leaves()
	r := SweepRow{
		At: map[string]string{}, Variant: j.Experiment.Variant, Protocol: j.Experiment.Protocol,
		Engine: string(j.Engine), Seed: int64(j.Experiment.Seed), Key: p.Key, Code: p.Code, Digest: p.Result.Digest,
		Verdict: string(p.Result.Verdict), Unstable: p.NotCarried() != "", Unbounded: p.Unbounded != "",
		OfferedGbps: p.Result.OfferedGbps, GoodputGbps: p.Goodput(), Messages: int64(slow.Count),
		SlowdownP50: slow.P50, SlowdownP99: slow.P99, SlowdownMean: slow.Mean, AckedP99: acked.P99,
		LeafMax: leaf.Max, LeafMean: leaf.Mean, Metrics: map[string]float64{}, WallSeconds: p.Result.WallSeconds,
	}
	r.Hosts = int64(j.Experiment.Topology.Leaves * j.Experiment.Topology.HostsPerLeaf)
	r.QueueGrows = p.QueueGrows()
	if place, ok := reproduce.PlaceOf(&j.Experiment); ok {
		r.Paper = &place
	}
	for _, c := range j.At {
		r.At[c.Axis] = c.Label
	}
	return r
}

// A SweepOutcome is sweep.json.
type SweepOutcome struct {
	Format   int        `json:"format"`
	Scenario string     `json:"scenario"`
	Axes     []string   `json:"axes"`
	Points   []SweepRow `json:"points"`
	Missing  int        `json:"missing"`
	// Units are those of the points' metrics, by their names; "": a number.
	Units map[string]string `json:"units,omitempty"`
}

// show prints a sweep's tables and writes its files.
func (o *sweepOptions) show(c *cobra.Command, s *scenarios.Scenario, t *sweepTable, command string) error {
	axes, _ := sweep.Axes(t.jobs)
	rows := t.rows(s.Name)
	all := &SweepOutcome{
		Format: gridFormat, Scenario: s.Name, Axes: axes, Points: rows, Missing: len(t.jobs) - len(rows),
		Units: map[string]string{},
	}
	for i := range t.metrics {
		all.Units[heading(&t.metrics[i])] = unit(&t.metrics[i])
	}
	if len(rows) == 0 {
		if o.json {
			return printJSON(c.OutOrStdout(), all)
		}
		return nil
	}
	name, write := s.Name+"-sweep", func(dir *tree.Dir) error {
		return errors.Join(writeSweep(dir, rows), dir.WriteJSON(sweepJSON, all),
			t.writePage(dir, all, s.Description, command))
	}
	if o.json {
		_, err := writeGrid(o.out, name, write)
		return errors.Join(err, printJSON(c.OutOrStdout(), all))
	}
	return showGrid(c.OutOrStdout(), o.out, name, write, t.tables)
}

func writeSweep(dir *tree.Dir, rows []SweepRow) error {
	return dir.Write(sweepParquet, func(file *os.File) error {
		w := parquet.NewGenericWriter[SweepRow](file, parquet.Compression(&parquet.Snappy))
		if _, err := w.Write(rows); err != nil {
			return err
		}
		return w.Close()
	})
}

// mostDamaged is how many files that are no points are named.
const mostDamaged = 10

// sayDamaged names files that are no points, and what becomes of them.
func sayDamaged(w io.Writer, damaged []string, fate string) {
	for i, text := range damaged {
		if i == mostDamaged {
			fmt.Fprintf(w, "and %d more\n", len(damaged)-i)
			break
		}
		fmt.Fprintf(w, "not a point, %s: %s\n", fate, report.Printable(text))
	}
}

// announce writes what there is, and what will be run.
func (s *sweeper) announce(w io.Writer) {
	fmt.Fprintf(w, "%s: %s, %d of them in %s", s.what, count(len(s.jobs), "point"),
		len(s.jobs)-len(s.missing)-len(s.without), s.store.Path())
	if len(s.stale) > 0 {
		fmt.Fprintf(w, "; %s of them there by other code", count(len(s.stale), "point"))
	}
	fmt.Fprintln(w)
	sayDamaged(w, s.store.Damaged(), "to be run again")
	if queue := s.order(); len(queue) > 0 {
		s.shown.s, s.shown.queue = s, queue
		left, _ := s.shown.remaining()
		where := fmt.Sprintf("%d at once, about %s", s.atOnce, rough(left))
		if s.slurm.submit {
			where = fmt.Sprintf("over Slurm, about %s of processor time", rough(left))
		}
		fmt.Fprintf(w, "to run: %s, %s\n", count(len(queue), "point"), where)
	}
	if s.lacks != "" {
		fmt.Fprintf(w, "left out: %s\n", s.lacks)
	}
}

// list prints what would be run.
func (s *sweeper) list(w io.Writer) error {
	t := report.Table{Title: "To run", Left: 2, Header: []string{"point", "why", "about"}}
	other := map[int]bool{}
	for _, i := range s.stale {
		other[i] = true
	}
	for _, i := range s.order() {
		why := "missing"
		if other[i] {
			why = "other code"
		}
		d, _ := s.shown.expected(&s.jobs[i])
		t.Rows = append(t.Rows, []string{s.jobs[i].Name(), why, rough(d)})
	}
	t.Note = fmt.Sprintf("About %s of disk.", humanSize(int64(len(t.Rows))*points.Size))
	return report.PrintTables(w, []report.Table{t})
}
