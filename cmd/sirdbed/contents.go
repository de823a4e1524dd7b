package main

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/emu/atomicfile"
	"sirdbed/emu/tree"
)

// What sirdbed writes into a result's directory, by path with slashes. Files that
// are written atomically may be left with atomicfile.Suffix, by a process that was killed.
var (
	writtenDirs = regexp.MustCompile(
		`^(` + report.PlotsDir + `|` + results.VariantsDir + `(/[^/]+(/(hosts|captures|apps))?)?)$`)
	writtenFiles = regexp.MustCompile(`^(` + strings.Join([]string{
		results.VariantsDir + `/[^/]+/queues\.rec`,
		results.VariantsDir + `/[^/]+/hosts/h[0-9]+-[0-9]+\.rec`,
		results.VariantsDir + `/[^/]+/apps/[a-z0-9._-]+\.out`,
		results.VariantsDir + `/[^/]+/captures/(h[0-9]+-[0-9]+|leaf[0-9]+|spine[0-9]+)\.pcapng`,
	}, `|`) + `)$`)
	atomicFiles = regexp.MustCompile(`^(` + strings.Join([]string{
		regexp.QuoteMeta(scenarioText), regexp.QuoteMeta(scenarioFile), regexp.QuoteMeta(results.ChecksumsFile),
		regexp.QuoteMeta(results.ManifestFile), regexp.QuoteMeta(results.SummaryFile),
		regexp.QuoteMeta(results.MessagesFile), regexp.QuoteMeta(results.QueuesFile),
		regexp.QuoteMeta(results.SeriesFile), regexp.QuoteMeta(report.PageFile),
		report.PlotsDir + `/(latency|gauge)-[A-Za-z0-9._-]+\.svg`,
		report.PlotsDir + `/(slowdown|goodput|queue)(-[A-Za-z0-9._-]+)?\.svg`,
		results.VariantsDir + `/[^/]+/(experiment|facts)\.json`,
	}, `|`) + `)$`)
)

// isWritten reports whether sirdbed writes a file or directory of this path and
// type into a result. It writes neither links nor devices.
func isWritten(name string, kind fs.FileMode) bool {
	switch {
	case kind.IsDir():
		return writtenDirs.MatchString(name)
	case kind.IsRegular():
		return writtenFiles.MatchString(name) || atomicFiles.MatchString(strings.TrimSuffix(name, atomicfile.Suffix))
	}
	return false
}

// contentsOf lists what is in a result's directory, by path with slashes, each
// directory before what is in it. It is an error if sirdbed did not write all of it.
func contentsOf(dir *tree.Dir) (names []string, err error) {
	err = dir.Walk(func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case !isWritten(name, d.Type()):
			return fmt.Errorf("sirdbed did not write %s", dir.At(name))
		}
		names = append(names, name)
		return nil
	})
	return names, err
}

// longestName is how much of a result's name stands in that of one being removed; file
// names have at most 255 bytes.
const longestName = 200

// removeResult removes a result in all and nothing that is not among names, which
// contentsOf has listed. What cannot be removed stays listed: the directory goes by
// another name meanwhile, which shows that it may go, and scenario.json goes last.
func removeResult(all *tree.Dir, name string, names []string) error {
	away, err := awayName(all, name)
	if err != nil {
		return err
	}
	if err := all.Rename(name, away); err != nil {
		return err
	}
	if err = removeContents(all, away, names); err == nil {
		return nil
	}
	if e := all.Rename(away, name); e != nil {
		return fmt.Errorf("%w, then %w", err, e)
	}
	return err
}

// awayName is a free name for a result that is being removed. Others may be results of
// that name, or left by a prune that was killed.
func awayName(all *tree.Dir, name string) (string, error) {
	base := name[:min(len(name), longestName)] + ".removing"
	away := base
	for n := 2; n <= 1000; n++ {
		if _, err := all.Lstat(away); errors.Is(err, fs.ErrNotExist) {
			return away, nil
		}
		away = fmt.Sprintf("%s-%d", base, n)
	}
	return "", fmt.Errorf("%s and others like it are in the way: prunes that were killed may have left them, "+
		"so remove them", all.At(base))
}

func removeContents(all *tree.Dir, result string, names []string) error {
	dir, err := all.Sub(result)
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, name := range slices.Backward(names) {
		if name == scenarioFile {
			continue
		}
		if err := dir.Remove(name); err != nil {
			return err
		}
	}
	left, err := dir.List(".")
	if err != nil {
		return err
	}
	for _, e := range left {
		if e.Name() != scenarioFile {
			return fmt.Errorf("%s has come meanwhile: move it away and prune again", dir.At(e.Name()))
		}
	}
	return errors.Join(dir.Remove(scenarioFile), dir.Close(), all.Remove(result))
}
