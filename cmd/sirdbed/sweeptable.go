package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sirdbed/capture/metric"
	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/scenarios/sweep"
)

// parseMetrics reads metrics of a command line; none: the usual ones.
func parseMetrics(texts []string) (list []metric.Metric, err error) {
	if len(texts) == 0 {
		return defaultMetrics, nil
	}
	for _, text := range texts {
		m, err := metric.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("--metric %s: %w", text, err)
		}
		if slices.ContainsFunc(list, func(n metric.Metric) bool { return heading(&n) == heading(&m) }) {
			return nil, fmt.Errorf("--metric %s: it is there already, as %s", text, heading(&m))
		}
		list = append(list, m)
	}
	return list, nil
}

// A sweepTable shows the figures of a sweep: over seeds medians, and the range of all.
type sweepTable struct {
	jobs     []sweep.Job
	noEffect []sweep.NoEffect
	found    []*points.Point // by job; nil: missing
	metrics  []metric.Metric
	by       string // the axis across the top, as asked for; "": metrics are
	x        string // the axis along figures, as asked for
	// across and series are the axes along figures and of their series, as asked for or
	// chosen; "": the grid has none.
	across, series string

	unknown map[string]error // by a metric's heading: why its first point without a figure has none
}

// A figure is a metric at one place of a grid.
type figure struct {
	values []float64 // of the seeds
	mark   mark      // the worst of theirs
}

// axes lists the axes of the table: those with more than one label, without seeds. A grid
// of one point has none.
func (t *sweepTable) axes() (list []string) {
	axes, labels := sweep.Axes(t.jobs)
	for _, a := range axes {
		if a != sweep.SeedAxis && len(labels[a]) > 1 {
			list = append(list, a)
		}
	}
	return list
}

// places groups jobs that differ in nothing but the seed, by labels on the table's axes.
func (t *sweepTable) places() (names [][]string, jobs [][]int) {
	axes := t.axes()
	index := map[string]int{}
	for i := range t.jobs {
		var labels []string
		for _, a := range axes {
			labels = append(labels, t.jobs[i].Label(a))
		}
		key := strings.Join(labels, "\x00")
		k, ok := index[key]
		if !ok {
			k = len(names)
			index[key] = k
			names, jobs = append(names, labels), append(jobs, nil)
		}
		jobs[k] = append(jobs[k], i)
	}
	return names, jobs
}

// figure evaluates a metric over seeds.
func (t *sweepTable) figure(m *metric.Metric, jobs []int) (f figure) {
	for _, i := range jobs {
		p := t.found[i]
		if p == nil {
			continue
		}
		v, err := p.Variant(t.jobs[i].Name())
		var x float64
		if err == nil {
			x, err = m.Eval(v)
		}
		if err != nil {
			t.explain(m, err)
			continue
		}
		f.values = append(f.values, x/scale(m))
		f.mark = max(f.mark, markOf(p))
	}
	slices.Sort(f.values)
	return f
}

// explain notes why a metric has no figure of a point, for its first one.
func (t *sweepTable) explain(m *metric.Metric, err error) {
	if t.unknown == nil {
		t.unknown = map[string]error{}
	}
	if name := heading(m); t.unknown[name] == nil {
		t.unknown[name] = err
	}
}

// String is the median, and behind it the range.
func (f figure) String() string {
	switch len(f.values) {
	case 0:
		return "-"
	case 1:
		return report.Number(f.values[0]) + f.mark.String()
	}
	return fmt.Sprintf("%s%s (%s-%s)", report.Number(report.Median(f.values)), f.mark, report.Number(f.values[0]),
		report.Number(f.values[len(f.values)-1]))
}

// tables are the figures as tables: one of all metrics, or one for each metric with an axis
// across the top.
func (t *sweepTable) tables() []report.Table {
	if t.by != "" {
		return t.byAxis()
	}
	axes := t.axes()
	table := report.Table{Title: "Points", Left: len(axes), Header: slices.Clone(axes)}
	for i := range t.metrics {
		table.Header = append(table.Header, heading(&t.metrics[i]))
	}
	table.Header = append(table.Header, "verdict")
	names, jobs := t.places()
	for i, labels := range names {
		row := slices.Clone(labels)
		for k := range t.metrics {
			row = append(row, t.figure(&t.metrics[k], jobs[i]).String())
		}
		table.Rows = append(table.Rows, append(row, t.verdict(jobs[i])))
	}
	table.Note = t.note()
	return []report.Table{table}
}

// byAxis makes a table of each metric. The axis along figures is the last of the rows'.
func (t *sweepTable) byAxis() (list []report.Table) {
	_, all := sweep.Axes(t.jobs)
	rest := slices.DeleteFunc(t.axes(), func(a string) bool { return a == t.by })
	if i := slices.Index(rest, t.x); i >= 0 {
		rest = append(slices.Delete(rest, i, i+1), t.x)
	}
	for k := range t.metrics {
		t.unknown = nil // of this metric alone
		table := report.Table{
			Title: heading(&t.metrics[k]) + " by " + t.by, Left: len(rest), Header: slices.Clone(rest),
		}
		table.Header = append(table.Header, all[t.by]...)
		rows := map[string]int{}
		names, jobs := t.places()
		for i := range names {
			j := &t.jobs[jobs[i][0]]
			var labels []string
			for _, a := range rest {
				labels = append(labels, j.Label(a))
			}
			key := strings.Join(labels, "\x00")
			r, ok := rows[key]
			if !ok {
				r = len(table.Rows)
				rows[key] = r
				table.Rows = append(table.Rows, append(labels, slices.Repeat([]string{"-"}, len(all[t.by]))...))
			}
			at := slices.Index(all[t.by], j.Label(t.by))
			table.Rows[r][len(rest)+at] = t.figure(&t.metrics[k], jobs[i]).String()
		}
		table.Note = t.note()
		list = append(list, table)
	}
	return list
}

// verdict is the worst of some points'.
func (t *sweepTable) verdict(jobs []int) string {
	level := ""
	for _, i := range jobs {
		if p := t.found[i]; p != nil {
			if level == "" {
				level = string(p.Result.Verdict)
			} else {
				level = string(p.Result.Verdict.Worse(results.Level(level)))
			}
		}
	}
	return cmp.Or(level, "-")
}

// note explains what the tables have.
func (t *sweepTable) note() string {
	_, labels := sweep.Axes(t.jobs)
	var parts []string
	if n := len(labels[sweep.SeedAxis]); n > 1 {
		parts = append(parts, fmt.Sprintf("Medians of up to %d seeds (lowest-highest).", n))
	}
	marks := map[mark]bool{}
	missing := 0
	for _, p := range t.found {
		if p == nil {
			missing++
			continue
		}
		marks[markOf(p)] = true
	}
	for m := noMark + 1; m <= markInvalid; m++ {
		if marks[m] {
			parts = append(parts, m.String()+": "+m.meaning()+".")
		}
	}
	if missing > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d points are missing.", missing, len(t.found)))
	}
	for _, name := range slices.Sorted(maps.Keys(t.unknown)) {
		if why := fmt.Sprintf("-: %v.", t.unknown[name]); !slices.Contains(parts, why) {
			parts = append(parts, why)
		}
	}
	return strings.Join(parts, " ")
}

// scale is what figures of a metric are divided by in tables: bytes are shown in KB.
func scale(m *metric.Metric) float64 {
	if m.Unit() == "B" {
		return 1000
	}
	return 1
}

// kilobytes is the unit in which tables have metrics of bytes.
const kilobytes = "KB"

// unit is that of a metric's figures in tables.
func unit(m *metric.Metric) string {
	if scale(m) != 1 {
		return kilobytes
	}
	return m.Unit()
}

// heading names a metric at the top of a column.
func heading(m *metric.Metric) string {
	parts := []string{m.Name}
	if unit(m) == kilobytes {
		parts[0] += " (" + kilobytes + ")"
	}
	for _, part := range []string{
		m.Stat, m.Switch, m.Stream, m.Group, m.Definition, m.Host, strings.Join(m.Hosts, "+"), m.Port, m.Gauge,
		m.Counter,
	} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if m.From != nil {
		parts = append(parts, "from "+m.From.String())
	}
	if m.To != nil {
		parts = append(parts, "to "+m.To.String())
	}
	return strings.Join(parts, " ")
}
