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

// checkDisk works out about how many bytes the run will write, and warns where
// the file system lacks room for them. Estimates are good to about a factor of
// two, and a run on a full disk keeps what it has measured: so it is not refused.
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
	if err != nil || size <= free { // where it cannot be told, a full disk will be
		return size, nil
	}
	may := "may"
	if size/2 > free {
		may = "will"
	}
	fmt.Fprintf(r.stderr, "warning: the disk %s be full before this run ends: it writes about %s (%s), and %s has %s left. "+
		"Free some space, put results elsewhere with --out, or write less (sample, capture, snap_len, duration)\n",
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
	parts := []part{{"messages", e.Messages}, {"samples of gauges", e.Gauges}, {"samples of queues", e.Queues}, {"captures", e.Captures}}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.size, a.size) })
	var words []string
	for _, p := range parts {
		if p.size >= e.Total()/10 {
			words = append(words, p.name+" "+humanSize(int64(p.size)))
		}
	}
	return strings.Join(words, ", ")
}

// explainDisk says what to do about a full disk, in one line however many files
// did not fit. Other errors stay as they are.
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

// diskFull tells whether an error is that of a full disk, here or, by its word,
// in a host process.
func diskFull(err error) bool {
	for _, full := range diskFullErrors {
		if errors.Is(err, full) || strings.Contains(err.Error(), full.Error()) {
			return true
		}
	}
	return false
}

// humanSize is a number of bytes with three digits and a unit of 1000s: 31.6 MB.
func humanSize(bytes int64) string {
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	size, unit := float64(bytes), ""
	for _, unit = range []string{"KB", "MB", "GB", "TB", "PB"} {
		if size /= 1000; size < 999.5 {
			break
		}
	}
	switch {
	case size < 9.995:
		return fmt.Sprintf("%.2f %s", size, unit)
	case size < 99.95:
		return fmt.Sprintf("%.1f %s", size, unit)
	}
	return fmt.Sprintf("%.0f %s", size, unit)
}
