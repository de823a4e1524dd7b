// Package report shows results to people: tables on a terminal, a page with
// plots, and several results side by side. It computes nothing that a Summary
// does not hold, save the curves of plots.
package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"sirdbed/capture/results"
	"sirdbed/capture/stats"
)

// A Table is a table of a report, for a terminal or for the page.
type Table struct {
	Title  string
	Note   string // below the table
	Header []string
	Wide   []string // the same where there is room, if it is different
	Rows   [][]string
	Left   int // columns that are names, and so aligned left; the others are numbers
	// Sentences are in the cells, which may be broken into lines on a page.
	Sentences bool
}

// Tables returns the tables of a result that have rows.
func Tables(s *results.Summary) (list []Table) {
	for _, t := range []Table{overview(s), latencies(s), slowdowns(s), queues(s), gauges(s), programs(s), bounds(s)} {
		if len(t.Rows) > 0 {
			list = append(list, t)
		}
	}
	return list
}

func overview(s *results.Summary) Table {
	t := Table{
		Title: "Variants", Left: 2,
		Header: []string{"variant", "protocol", "Gbps/host", "top host", "slowdown p50", "p99", "queue KB", "mean KB",
			"stable", "verdict"},
		Wide: []string{"variant", "protocol", "Gbps/host", "top host", "slowdown p50", "slowdown p99", "queue max KB",
			"queue mean KB", "stable", "verdict"},
	}
	judged, known := true, true
	for _, v := range s.Variants {
		slow := v.Slowdown[results.Paper][results.AllSizes]
		stable := "-"
		if v.Stability != nil {
			stable = "yes"
			if !v.Stability.Known {
				stable, known = "?", false
			}
		}
		judged = judged && v.Stability != nil
		if v.Unstable {
			stable = "NO"
			t.Note += fmt.Sprintf("%s is unstable: %s. ", v.Variant, strings.Join(v.UnstableReasons, "; "))
		}
		t.Rows = append(t.Rows, []string{
			v.Variant, v.Protocol, number(v.GoodputGbps), number(most(v.GoodputBy)),
			of(slow, slow.P50), of(slow, slow.P99),
			kilobytes(float64(v.QueueBytes.Max)), kilobytes(v.QueueBytes.Mean), stable, string(v.Verdict),
		})
	}
	t.Note += "Goodput per host of the fabric, and of the host that received the most. " +
		"Slowdown by the paper's definition. Queue: the deepest of a switch, and the mean over switches and time."
	if !judged {
		t.Note += " Stable: judged only where messages arrive at random (Poisson); -: not judged."
	}
	if !known {
		t.Note += " ?: not known, report.html says why."
	}
	return t
}

func most(by map[string]float64) (m float64) {
	for _, x := range by {
		m = max(m, x)
	}
	return m
}

func latencies(s *results.Summary) Table {
	t := Table{
		Title: "Latency by stream, us", Left: 2,
		Header: []string{"variant", "stream", "count", "p50", "p90", "p99", "p99.9", "mean", "warm-up", "too late",
			"open", "failed"},
	}
	few := false
	for _, v := range s.Variants {
		for _, st := range v.Streams {
			l := st.LatencyNS
			us := func(ns float64) string { return of(l, ns/1000) }
			few = few || (l.Few && l.Count > 0)
			t.Rows = append(t.Rows, []string{
				v.Variant, st.Name, count(l), us(l.P50), us(l.P90), us(l.P99), us(l.P999), us(l.Mean),
				fmt.Sprint(st.Warmup), fmt.Sprint(st.TooLate), fmt.Sprint(st.Unfinished), fmt.Sprint(st.Failed),
			})
		}
	}
	t.Note = "Left out: messages of the warm-up, those that came too late to finish, open (unfinished) and failed ones."
	if few {
		t.Note += " " + fewNote
	}
	return t
}

const fewNote = "*: fewer than 100 samples."

func slowdowns(s *results.Summary) Table {
	t := Table{
		Title: "Slowdown by message size", Left: 2,
		Header: []string{"variant", "size", "messages", "p50", "p99", "p99.9", "mean", "exact p50", "exact p99"},
	}
	few, acked := false, ""
	for _, v := range s.Variants {
		if a, ok := v.Slowdown[results.Acked][results.AllSizes]; ok {
			acked += fmt.Sprintf(" %s until the acknowledgement, over a round trip, as its authors measure: "+
				"p50 %s, p99 %s.", v.Variant, of(a, a.P50), of(a, a.P99))
		}
		groups := v.Slowdown[results.Paper]
		for _, g := range slices.Sorted(maps.Keys(groups)) { // A, B, ..., all
			p, e := groups[g], v.Slowdown[results.Exact][g]
			few = few || p.Few
			t.Rows = append(t.Rows, []string{
				v.Variant, groupName(g, v.GroupBorders), count(p),
				number(p.P50), number(p.P99), number(p.P999), number(p.Mean), of(e, e.P50), of(e, e.P99),
			})
		}
	}
	t.Note = "Over payload at link rate and propagation, as in the paper; " +
		"exact: over headers and every hop's store-and-forward too." + acked
	if few {
		t.Note += " " + fewNote
	}
	return t
}

// groupName is a group's name with its lower border.
func groupName(g string, borders []int64) string {
	i := int(g[0]) - 'A'
	if len(g) != 1 || i < 0 || i > len(borders) || len(borders) == 0 {
		return g
	}
	if i == 0 {
		return fmt.Sprintf("%s <%s", g, size(borders[0]))
	}
	return fmt.Sprintf("%s %s+", g, size(borders[i-1]))
}

func size(n int64) string {
	switch {
	case n >= 1_000_000 && n%100_000 == 0:
		return fmt.Sprintf("%gMB", float64(n)/1e6)
	case n >= 10_000 && n%1000 == 0:
		return fmt.Sprintf("%dKB", n/1000)
	}
	return fmt.Sprintf("%dB", n)
}

func queues(s *results.Summary) Table {
	t := Table{
		Title: "Queues, KB", Left: 2,
		Header: []string{"variant", "where", "max", "mean", "p99", "p99.9", "exact max", "exact mean"},
	}
	for _, v := range s.Variants {
		row := func(where string, q results.QueueStats) {
			cells := []string{v.Variant, where, kilobytes(float64(q.Max)), kilobytes(q.Mean), kilobytes(float64(q.P99)),
				kilobytes(float64(q.P999)), "-", "-"}
			if e, ok := v.ExactQueues[where]; ok {
				cells[6], cells[7] = kilobytes(float64(e.Max)), kilobytes(e.Mean)
			}
			t.Rows = append(t.Rows, cells)
		}
		for _, name := range deepest(v.QueueBytes.Switches, 3) {
			row(name, v.QueueBytes.Switches[name])
		}
		for _, name := range deepest(v.QueueBytes.Ports, 3) {
			row(name, v.QueueBytes.Ports[name])
		}
	}
	t.Note = "The switches (sum over their ports) and ports with the deepest queues; summary.json has all."
	return t
}

// deepest returns the names of the queues with the largest maxima.
func deepest(queues map[string]results.QueueStats, most int) []string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(queues)),
		func(name string) bool { return queues[name].Max == 0 })
	slices.SortStableFunc(names, func(a, b string) int {
		x, y := queues[a], queues[b]
		switch {
		case x.Max != y.Max:
			return int(max(-1, min(1, y.Max-x.Max)))
		case x.Mean > y.Mean:
			return -1
		case x.Mean < y.Mean:
			return 1
		}
		return 0
	})
	return names[:min(most, len(names))]
}

func gauges(s *results.Summary) Table {
	t := Table{Title: "Gauges over the window, all hosts", Left: 2,
		Header: []string{"variant", "gauge", "mean", "max", "unit", "hosts"}}
	for _, v := range s.Variants {
		names := slices.Sorted(maps.Keys(v.Gauges))
		for _, name := range names {
			// Goodput says payload_received better; those of a single peer
			// ("bucket/h1-2") are in summary.json.
			if name == "payload_received" || strings.Contains(name, "/") {
				continue
			}
			g := v.Gauges[name]
			unit, scale := GaugeUnit(name)
			mean, most := number(g.Mean/scale), number(g.Max/scale)
			if unit == "KB" {
				mean, most = kilobytes(g.Mean), kilobytes(g.Max)
			}
			t.Rows = append(t.Rows, []string{v.Variant, name, mean, most, unit, fmt.Sprint(g.Hosts)})
		}
	}
	return t
}

func bounds(s *results.Summary) Table {
	t := Table{Title: "Bounds", Left: 1, Header: []string{"bound", "value", "min", "max", "unit", "met"}}
	limit := func(l *float64) string {
		if l == nil {
			return ""
		}
		return number(*l)
	}
	for _, b := range s.Bounds {
		value, met := number(b.Value), "ok"
		if !b.OK {
			met = "FAIL"
		}
		if b.Error != "" {
			value = "-"
			t.Note += fmt.Sprintf("%s: %s. ", b.Name, b.Error)
		}
		t.Rows = append(t.Rows, []string{b.Name, value, limit(b.Min), limit(b.Max), b.Unit, met})
	}
	return t
}

// Number prints a figure with about four significant digits.
func Number(x float64) string { return number(x) }

// number prints a figure with about four significant digits.
func number(x float64) string {
	abs := x
	if abs < 0 {
		abs = -abs
	}
	switch {
	case x == 0:
		return "0"
	case abs >= 1e6:
		return fmt.Sprintf("%.4g", x)
	case abs >= 1000:
		return fmt.Sprintf("%.0f", x)
	case abs >= 100:
		return fmt.Sprintf("%.1f", x)
	case abs >= 0.1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// kilobytes prints bytes as KB, to 0.01 KB at least.
func kilobytes(bytes float64) string {
	if bytes != 0 && math.Abs(bytes) < 100 {
		return fmt.Sprintf("%.2f", bytes/1000)
	}
	return number(bytes / 1000)
}

// Head is the header where there is room.
func (t Table) Head() []string {
	if t.Wide != nil {
		return t.Wide
	}
	return t.Header
}

// of prints a figure of a summary, nothing where there are no samples.
func of(s stats.Summary, x float64) string {
	if s.Count == 0 {
		return "-"
	}
	return number(x)
}

// count prints a sample count, with a mark where it is small.
func count(s stats.Summary) string {
	if s.Few && s.Count > 0 {
		return fmt.Sprintf("%d*", s.Count)
	}
	return fmt.Sprint(s.Count)
}
