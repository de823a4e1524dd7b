package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/capture/stats"
	"sirdbed/emu/tree"
	"sirdbed/scenarios/paper"
	"sirdbed/scenarios/sweep"
)

// A compared is a result that compare has read: one of its fields beside path is there.
type compared struct {
	path    string
	dir     string           // path's directory
	summary *results.Summary // of a run
	sweep   *SweepOutcome
	paper   *ComparedPaper // of a reproduction
}

// comparedFiles are the files by which results of each kind are known. A path may name one.
var comparedFiles = []string{comparisonJSON, sweepJSON, results.SummaryFile}

// readCompared reads a result. If raw files of a run are damaged or missing, its verdict is
// INVALID, whatever it was.
func readCompared(path string, stderr io.Writer) (*compared, error) {
	c := &compared{path: path, dir: path}
	file := ""
	if base := filepath.Base(path); slices.Contains(comparedFiles, base) {
		c.dir, file = filepath.Dir(path), base
	}
	dir, err := tree.Open(c.dir)
	if err == nil {
		defer dir.Close()
		for _, name := range comparedFiles[:2] {
			if _, e := dir.Lstat(name); e == nil && (file == "" || file == name) {
				return c, c.read(dir, name)
			}
		}
		if _, e := dir.Lstat(results.SummaryFile); file == "" && errors.Is(e, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is not a result of sirdbed: it has none of %s", path,
				strings.Join(comparedFiles, ", "))
		}
	}
	if c.summary, err = readRun(path, stderr); err != nil {
		return nil, err
	}
	return c, nil
}

// read reads the file of a sweep or a reproduction.
func (c *compared) read(dir *tree.Dir, name string) error {
	var format int
	var err error
	if name == sweepJSON {
		c.sweep = &SweepOutcome{}
		err = results.ReadJSON(dir, name, c.sweep)
		format = c.sweep.Format
	} else {
		c.paper = &ComparedPaper{}
		err = results.ReadJSON(dir, name, c.paper)
		format = c.paper.Format
	}
	switch {
	case err != nil:
		return err
	case format != gridFormat:
		return fmt.Errorf("%s has format %d: this sirdbed reads format %d", dir.At(name), format, gridFormat)
	case c.sweep != nil:
		if twice := c.sweep.twice(); twice != "" {
			return fmt.Errorf("%s has two points at %s", dir.At(name), twice)
		}
	}
	return nil
}

// twice is where a sweep has two points of one seed, "" if it has not.
func (o *SweepOutcome) twice() string {
	seen := map[string]bool{}
	for i := range o.Points {
		at := o.seeded(&o.Points[i])
		if seen[at] {
			return at
		}
		seen[at] = true
	}
	return ""
}

// seeded is the place of a point with its seed.
func (o *SweepOutcome) seeded(r *SweepRow) string {
	place, _, _ := o.place(r)
	return fmt.Sprintf("%s seed=%d", place, r.Seed)
}

// readRun reads the summary of a run.
func readRun(path string, stderr io.Writer) (*results.Summary, error) {
	s, err := results.ReadSummary(path)
	if err != nil {
		return nil, err
	}
	if filepath.Base(path) == results.SummaryFile {
		path = filepath.Dir(path) // of the result, if it is one: it may be damaged
	}
	dir, err := tree.Open(path)
	if err != nil {
		return s, nil
	}
	defer dir.Close()
	var record struct {
		Checksums bool `json:"checksums"`
	}
	if err := results.ReadJSON(dir, scenarioFile, &record); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if damage := results.NewAudit(dir, record.Checksums, false).Apply(s); damage != "" {
		fmt.Fprintf(stderr, "%s is INVALID: %s\n", report.Printable(path), report.Printable(damage))
	}
	return s, nil
}

// kind is what the result is of.
func (c *compared) kind() string {
	switch {
	case c.sweep != nil:
		return "sweep"
	case c.paper != nil:
		return "reproduction"
	}
	return "run"
}

// grid has the figures of a sweep or a reproduction; asked are the metrics of sweeps that are
// compared beside the usual figures.
func (c *compared) grid(asked []string) []report.GridFigure {
	if c.sweep != nil {
		return c.sweep.grid(asked)
	}
	return c.paper.grid()
}

// askedMetrics lists the metrics that sweeps were asked for and that say something beside the
// usual figures: those of all of them, and those that some do not have.
func askedMetrics(list []*compared) (all, some []string) {
	of := map[string]int{}
	for _, c := range list {
		if c.sweep == nil {
			continue
		}
		here := map[string]bool{}
		for i := range c.sweep.Points {
			for name := range c.sweep.Points[i].Metrics {
				here[name] = true
			}
		}
		for name := range here {
			of[name]++
		}
	}
	for i := range defaultMetrics {
		delete(of, heading(&defaultMetrics[i]))
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if of[name] == len(list) {
			all = append(all, name)
		} else {
			some = append(some, name)
		}
	}
	return all, some
}

// grid has the figures of a sweep, medians of its seeds.
func (o *SweepOutcome) grid(asked []string) (list []report.GridFigure) {
	type figure struct {
		report.GridFigure
		seeds []float64
		least float64
		few   bool // in one of the seeds
	}
	var figures []*figure
	index := map[string]*figure{}
	for i := range o.Points {
		r := &o.Points[i]
		place, group, one := o.place(r)
		r.each(asked, o.Units, func(metric string, x, least float64, few bool) {
			key := metric + "\x00" + place
			f := index[key]
			if f == nil {
				f = &figure{least: least}
				f.GridFigure = report.GridFigure{Place: place, Metric: metric, Group: group, One: one}
				index[key] = f
				figures = append(figures, f)
			}
			f.seeds, f.few = append(f.seeds, x), f.few || few
		})
	}
	for _, f := range figures {
		f.Value = report.MedianOf(f.seeds, f.least)
		f.Value.Few = f.few
		list = append(list, f.GridFigure)
	}
	return list
}

// place is where a point is, but for its seed: as a whole, and in two parts, of which the
// second is its variant and protocol.
func (o *SweepOutcome) place(r *SweepRow) (place, group, one string) {
	var where, whose []string
	for _, axis := range o.Axes {
		switch label := r.At[axis]; {
		case axis == sweep.SeedAxis:
		case axis == sweep.VariantAxis || axis == sweep.ProtocolAxis:
			whose = append(whose, label)
		default:
			where = append(where, axis+"="+label)
		}
	}
	slices.Sort(where) // of whatever order the axes were given in
	group, one = strings.Join(where, " "), strings.Join(whose, " ")
	if place = strings.TrimSpace(group + " " + one); place == "" {
		place = r.Variant
	}
	return place, group, one
}

// each calls visit for the figures of a point that are worth a comparison, and those of metrics
// that were asked for, of which units has the units. least is by how much they differ if they do;
// few says that they are of too few messages.
func (r *SweepRow) each(
	asked []string, units map[string]string, visit func(metric string, x, least float64, few bool),
) {
	few := r.Messages < stats.FewSamples
	visit("goodput, Gbps per host", r.GoodputGbps, 0, false)
	if r.Messages > 0 {
		visit("slowdown p50", r.SlowdownP50, 0, few)
		visit("slowdown p99", r.SlowdownP99, 0, few)
	}
	if r.AckedP99 > 0 {
		visit("slowdown until acknowledged p99", r.AckedP99, 0, few)
	}
	visit("leaf queue max, KB", float64(r.LeafMax)/1000, report.LeastDepth, false)
	visit("leaf queue mean, KB", r.LeafMean/1000, report.LeastDepth, false)
	unstable := 0.0
	if r.Unstable {
		unstable = 1
	}
	visit("unstable", unstable, 0, false)
	for _, name := range asked {
		x, ok := r.Metrics[name]
		if !ok {
			continue
		}
		least := 0.0
		if units[name] == kilobytes {
			least = report.LeastDepth
		}
		visit(name, x, least, false)
	}
}

// leastApart is by how much cells of a table differ at least, if they do.
func leastApart(table string) float64 {
	switch table {
	case paper.MaxTorQueue, paper.MeanTorQueue:
		return report.LeastDepth / 1000 // MB
	}
	return 0
}

// grid has the cells of a reproduction that were run.
func (p *ComparedPaper) grid() (list []report.GridFigure) {
	for _, r := range p.Cells {
		c := r.Print.Cell
		if r.Here == nil {
			continue
		}
		f := report.GridFigure{
			Place: strings.Join([]string{c.Config, c.Workload, c.Protocol}, " "), Metric: paper.Title(c.Table),
			Group: c.Config + " " + c.Workload, One: c.Protocol,
		}
		f.Value = report.MedianOf(slices.Clone(r.Here.Seeds), leastApart(c.Table))
		f.Value.Unstable = r.Here.Unstable
		if x := r.Here.Number; !r.Here.Unstable {
			f.Value.Value = &x // of all messages, where seeds have a third of them
		} else {
			f.Value.Value = nil
		}
		list = append(list, f)
	}
	return list
}
