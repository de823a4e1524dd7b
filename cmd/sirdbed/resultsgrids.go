package main

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"sirdbed/capture/report"
	"sirdbed/emu/tree"
)

// A ListedGrid is what a sweep or a reproduction left, as results lists it: their points are
// files of their own, which other grids may share, and nothing of them is removed by prune.
type ListedGrid struct {
	Name    string    `json:"name"` // of its directory
	Kind    string    `json:"kind"` // sweep or reproduction
	Of      string    `json:"of"`   // the scenario, or the scale
	Created time.Time `json:"created"`
	Points  int       `json:"points"` // that it has
	Missing int       `json:"missing"`
	Size    int64     `json:"size_bytes"`
	Problem string    `json:"problem,omitempty"` // why it cannot be read
}

// readGrid reads as much of a sweep's or a reproduction's results as a listing shows. ok
// reports whether they are there.
func readGrid(all *tree.Dir, name string) (g ListedGrid, ok bool) {
	dir, err := all.Sub(name)
	if err != nil {
		return g, false
	}
	defer dir.Close()
	var file string
	var info fs.FileInfo
	for _, is := range []struct{ kind, file string }{{"sweep", sweepJSON}, {"reproduction", comparisonJSON}} {
		if info, err = dir.Lstat(is.file); err == nil && info.Mode().IsRegular() {
			g.Kind, file = is.kind, is.file
			break
		}
	}
	if file == "" {
		return g, false
	}
	g.Name, g.Created, g.Size = name, info.ModTime(), sizeOf(dir)
	if g.Kind == "sweep" {
		var o SweepOutcome
		err = readSmall(dir, file, &o)
		g.Of, g.Points, g.Missing = o.Scenario, len(o.Points), o.Missing
	} else {
		var c ComparedPaper
		err = readSmall(dir, file, &c)
		g.Of, g.Points, g.Missing = c.Scale, c.Points, c.Missing
	}
	if err != nil {
		g.Problem = err.Error()
	}
	return g, true
}

// printGrids prints sweeps and reproductions, the newest first.
func printGrids(w io.Writer, list []ListedGrid) error {
	t := newTable(w, "sweep or reproduction", "when", "of", "points", "size")
	for i := range list {
		g := &list[i]
		have := fmt.Sprint(g.Points)
		if g.Missing > 0 {
			have = fmt.Sprintf("%d of %d", g.Points, g.Points+g.Missing)
		}
		if g.Problem != "" {
			have = "unreadable"
		}
		t.row(report.Printable(g.Name), g.Created.Local().Format("2006-01-02 15:04"), report.Printable(g.Of), have,
			humanSize(g.Size))
	}
	if err := t.render(); err != nil {
		return err
	}
	for i := range list {
		if list[i].Problem != "" {
			fmt.Fprintln(w, report.Printable(list[i].Problem))
		}
	}
	return nil
}

// newestFirst sorts sweeps and reproductions by when they were made.
func newestFirst(list []ListedGrid) {
	slices.SortStableFunc(list, func(a, b ListedGrid) int { return b.Created.Compare(a.Created) })
}
