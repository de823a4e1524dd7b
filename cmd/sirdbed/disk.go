package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

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

// explainDisk turns the error of a full disk, or of a file that has grown as large as it
// may, into one line that says what to do, however many files did not fit. Other errors
// stay as they are.
func explainDisk(err error, dir string) error { return explainFull(err, dir, "results", "--out") }

// explainPoints is explainDisk of a directory of points.
func explainPoints(err error, dir string) error { return explainFull(err, dir, "points", "--points") }

// explainFull explains an error of a directory of things that option puts elsewhere.
func explainFull(err error, dir, things, option string) error {
	if what, ok := lineOf(err, diskFullErrors); ok {
		return fmt.Errorf("the disk with %s is full: free some space, or put %s elsewhere with %s (%s)",
			dir, things, option, what)
	}
	if what, ok := lineOf(err, fileTooLarge); ok {
		return fmt.Errorf("a file in %s is as large as files may be here: lift the limit with ulimit -f unlimited, "+
			"or put %s on another file system with %s; what was written before is kept (%s)", dir, things, option, what)
	}
	return err
}

// fileTooLarge is what a write fails with that would make a file larger than this process
// may (ulimit -f), or than the file system can have.
var fileTooLarge = []syscall.Errno{syscall.EFBIG}

// noRoom reports whether an error is one that explainDisk explains.
func noRoom(err error) bool {
	_, full := lineOf(err, diskFullErrors)
	_, large := lineOf(err, fileTooLarge)
	return full || large
}

// lineOf returns the line of an error's text that names one of causes. Errors of host
// processes are known by their text alone.
func lineOf(err error, causes []syscall.Errno) (line string, ok bool) {
	if err == nil {
		return "", false
	}
	for _, cause := range causes {
		for line := range strings.Lines(err.Error()) {
			if strings.Contains(line, cause.Error()) {
				return strings.TrimSpace(line), true
			}
		}
		ok = ok || errors.Is(err, cause)
	}
	return err.Error(), ok
}
