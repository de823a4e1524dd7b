package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sirdbed/capture/results"
	"sirdbed/topo/units"
)

// checkDisk works out about how many bytes the run will write, and warns if the
// file system has less room. Estimates are good to a factor of about two, and a run
// that fills the disk keeps what it measured: so none is refused.
func (r *scenarioRun) checkDisk() (size int64, err error) {
	var e results.Estimate
	for i := range r.experiments {
		one, err := results.EstimateSize(&r.experiments[i])
		if err != nil {
			return 0, badInput(fmt.Errorf("%s: %w", r.experiments[i].Variant, err))
		}
		e = e.Add(one)
	}
	size = int64(e.Total())
	dir := existing(cmp.Or(r.out, resultsDir))
	free, err := freeSpace(dir)
	if err != nil || size <= free { // if it is not known, a full disk is reported when it is full
		return size, nil
	}
	may := "may"
	if size/2 > free {
		may = "will"
	}
	fmt.Fprintf(r.stderr, "warning: the disk %s be full before this run ends: it writes about %s (%s), and %s has "+
		"%s left. Free some space, put results elsewhere with --out, or write less "+
		"(sample, capture, snap_len, duration)\n",
		may, humanSize(size), largest(e), dir, humanSize(free))
	return size, nil
}

// freeSpace returns how many bytes this user can still write in the file system
// of a directory. Tests replace it.
var freeSpace = diskSpace

// existing returns the first directory on the way up from dir that is there.
func existing(dir string) string {
	dir, err := filepath.Abs(dir)
	for err == nil {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return "."
}

// largest names what takes at least a tenth of an estimate, the most first.
func largest(e results.Estimate) string {
	type part struct {
		name string
		size units.Bytes
	}
	parts := []part{
		{"messages", e.Messages}, {"samples of gauges", e.Gauges},
		{"samples of queues", e.Queues}, {"captures", e.Captures},
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.size, a.size) })
	var words []string
	for _, p := range parts {
		if p.size >= e.Total()/10 {
			words = append(words, p.name+" "+humanSize(int64(p.size)))
		}
	}
	return strings.Join(words, ", ")
}

// explainDisk turns the error of a full disk into one line that says what to do,
// however many files did not fit. Other errors stay as they are.
func explainDisk(err error, dir string) error {
	if err == nil || !diskFull(err) {
		return err
	}
	what := err.Error()
	for line := range strings.Lines(what) {
		if diskFull(errors.New(line)) {
			what = strings.TrimSpace(line)
			break
		}
	}
	return fmt.Errorf("the disk with %s is full: free some space, or put results elsewhere with --out (%s)", dir, what)
}

// diskFull reports whether an error is that of a full disk, in this process or, by
// its text, in a host process.
func diskFull(err error) bool {
	for _, full := range diskFullErrors {
		if errors.Is(err, full) || strings.Contains(err.Error(), full.Error()) {
			return true
		}
	}
	return false
}
