package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/emu/tree"
)

// resultsDir is where run writes results unless --out names another place.
const resultsDir = "results"

func newResults() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "results [DIRECTORY]",
		Short: "List results, or remove old ones",
		Long: text(`
			List the results in DIRECTORY (default: ` + resultsDir + `), the newest first: when and on which engine each
			ran, its verdict, how many of its bounds are met, and its size on disk.

			A result is "running" while its run is in progress, and has "no report" if its run was killed: sirdbed
			report computes what can be computed of it. It is "damaged" if raw files are missing or have a size other
			than its run left; sirdbed report compares all of their contents.

			Sweeps and reproductions follow, with how many points they have; prune leaves them alone.`),
		Example: examples(`
			sirdbed results
			sirdbed results /data/runs --json
			sirdbed results prune --older 30d --keep 10`),
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: first(directories),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := listResults(directory(args))
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), l)
			}
			return l.print(c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, with sizes in bytes")
	c.AddCommand(newPrune(), newResultsDiff(), newResultsAdopt())
	return c
}

// directory returns the argument of a command, or resultsDir without one.
func directory(args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return resultsDir
}

// A Listing is what results --json prints: the newest result first.
type Listing struct {
	Directory string      `json:"directory"`
	Results   []ListedRun `json:"results"`
	Size      int64       `json:"size_bytes"` // of all results

	Grids []ListedGrid `json:"grids,omitempty"` // sweeps and reproductions
}

// A ListedRun is one result of a Listing.
type ListedRun struct {
	Name      string        `json:"name"` // of its directory
	Scenario  string        `json:"scenario"`
	Created   time.Time     `json:"created"`
	Engine    string        `json:"engine"`
	State     RunState      `json:"state"`
	Verdict   results.Level `json:"verdict,omitempty"` // of a reported one
	Bounds    int           `json:"bounds"`
	BoundsMet int           `json:"bounds_met"`
	Size      int64         `json:"size_bytes"`
	Format    int           `json:"format"`            // of its raw logs
	Problem   string        `json:"problem,omitempty"` // why it cannot be read, or what is damaged

	path string
}

// A RunState says how far a result has come.
type RunState string

// The states of a result.
const (
	Reported   RunState = "reported"
	Running    RunState = "running"
	Unreported RunState = "unreported" // its run was killed
	Unreadable RunState = "unreadable" // of another format, or damaged beyond that
	Damaged    RunState = "damaged"    // raw files are missing, or have another size than its run left them with
)

// listResults lists the results in a directory. resultsDir need not be there.
func listResults(dir string) (*Listing, error) {
	l := &Listing{Directory: dir, Results: []ListedRun{}}
	all, err := tree.Open(dir)
	if errors.Is(err, fs.ErrNotExist) && dir == resultsDir {
		return l, nil
	}
	if err != nil {
		return nil, badInput(err)
	}
	defer all.Close()
	if _, err := all.Lstat(scenarioFile); err == nil {
		return nil, badInput(fmt.Errorf("%s is a result itself: name the directory that it is in", dir))
	}
	entries, err := all.List(".")
	if err != nil {
		return nil, badInput(err)
	}
	for _, e := range entries {
		if !e.IsDir() { // nor are links followed
			continue
		}
		if r, ok := readListed(all, e.Name()); ok {
			l.Results = append(l.Results, r)
			l.Size += r.Size
		} else if g, ok := readGrid(all, e.Name()); ok {
			l.Grids = append(l.Grids, g)
		}
	}
	newestFirst(l.Grids)
	slices.SortStableFunc(l.Results, func(a, b ListedRun) int { return b.Created.Compare(a.Created) })
	return l, nil
}

// readListed reads as much of the result of a name as a listing shows. ok reports
// whether it is one.
func readListed(all *tree.Dir, name string) (r ListedRun, ok bool) {
	dir, err := all.Sub(name)
	if err != nil {
		return r, false
	}
	defer dir.Close()
	var record struct {
		Format   *int   `json:"format"`
		Engine   string `json:"engine"`
		Scenario *struct {
			Name string `json:"name"`
		} `json:"scenario"`
		Checksums bool `json:"checksums"`
	}
	info, err := dir.Lstat(scenarioFile)
	if err != nil {
		return r, false
	}
	r = ListedRun{Name: name, Created: info.ModTime(), path: all.At(name)}
	err = readSmall(dir, scenarioFile, &record)
	_, other := errors.AsType[*results.FormatError](err)
	if err == nil && record.Scenario == nil {
		err = noScenario(dir)
	}
	if err != nil && !other {
		if info, e := dir.Lstat(results.VariantsDir); e != nil || !info.IsDir() {
			return r, false
		}
		r.State, r.Problem, r.Size = Unreadable, err.Error(), sizeOf(dir)
		return r, true
	}
	r.Engine, r.Format, r.Size = record.Engine, 1, sizeOf(dir)
	if record.Scenario != nil {
		r.Scenario = record.Scenario.Name
	}
	if record.Format != nil {
		r.Format = *record.Format
	}
	if err == nil {
		err = r.readFigures(dir)
	}
	var files results.Files
	if err == nil {
		files = results.NewAudit(dir, record.Checksums, true).All()
	}
	switch {
	case beingWritten(dir):
		r.State = Running
	case errors.Is(err, fs.ErrNotExist):
		r.State = Unreported
	case err != nil:
		r.State, r.Problem = Unreadable, err.Error()
	case len(files.Damaged) > 0:
		r.State, r.Problem = Damaged, dir.Path()+": "+files.Text()
	default:
		r.State = Reported
	}
	return r, true
}

// readFigures reads the figures that a listing shows.
func (r *ListedRun) readFigures(dir *tree.Dir) error {
	var manifest struct {
		Created time.Time `json:"created"`
	}
	var summary struct {
		Verdict results.Level   `json:"verdict"`
		Bounds  []results.Bound `json:"bounds"`
	}
	for _, file := range []struct {
		name  string
		value any
	}{{results.SummaryFile, &summary}, {results.ManifestFile, &manifest}} {
		if err := readSmall(dir, file.name, file.value); err != nil {
			return err
		}
	}
	if !manifest.Created.IsZero() {
		r.Created = manifest.Created
	}
	r.Verdict, r.Bounds = summary.Verdict, len(summary.Bounds)
	for _, b := range summary.Bounds {
		if b.OK {
			r.BoundsMet++
		}
	}
	return nil
}

// listedBytes is how large a JSON file of a result may be to be read for a listing,
// many times what those of the largest scenarios have.
const listedBytes = 64 << 20

// readSmall reads a JSON file of a result, unless that would take more than a moment.
func readSmall(dir *tree.Dir, name string, value any) error {
	info, err := dir.Lstat(name)
	if err == nil && info.Mode().IsRegular() && info.Size() > listedBytes {
		err = fmt.Errorf("%s has %s: a result's has at most %s",
			dir.At(name), humanSize(info.Size()), humanSize(listedBytes))
	}
	if err != nil {
		return err
	}
	return results.ReadJSON(dir, name, value)
}

func (l *Listing) print(w io.Writer) error {
	if len(l.Results) == 0 && len(l.Grids) > 0 {
		return printGrids(w, l.Grids)
	}
	if len(l.Results) == 0 {
		_, err := fmt.Fprintf(w, "no results in %s\n", report.Printable(l.Directory))
		return err
	}
	t := newTable(w, "result", "when", "engine", "verdict", "bounds", "size")
	for i := range l.Results {
		r := &l.Results[i]
		bounds := "-"
		if r.Bounds > 0 {
			bounds = fmt.Sprintf("%d of %d", r.BoundsMet, r.Bounds)
		}
		t.row(report.Printable(r.Name), r.Created.Local().Format("2006-01-02 15:04"), report.Printable(r.Engine),
			report.Printable(r.verdict()), bounds, humanSize(r.Size))
	}
	if err := t.render(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s in %s: %s\n",
		count(len(l.Results), "result"), report.Printable(l.Directory), humanSize(l.Size))
	for _, r := range l.Results {
		if r.State == Unreadable || r.State == Damaged {
			fmt.Fprintln(w, report.Printable(r.Problem))
		}
	}
	if len(l.Grids) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return printGrids(w, l.Grids)
}

// verdict returns a result's verdict, or why it has none.
func (r *ListedRun) verdict() string {
	switch r.State {
	case Reported:
		return string(r.Verdict)
	case Unreported:
		return "no report"
	}
	return string(r.State)
}

// sizeOf returns how many bytes the files in a directory have together.
func sizeOf(dir *tree.Dir) (size int64) {
	_ = dir.Walk(func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}
