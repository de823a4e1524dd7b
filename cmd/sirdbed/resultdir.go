package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"sirdbed/capture/report"
	"sirdbed/capture/results"
)

// makeResults makes the directory of a run: out if it is given, which must be
// empty then, otherwise results/SCENARIO-TIME here.
func makeResults(out, scenario string, now time.Time) (string, error) {
	if out != "" {
		if err := os.MkdirAll(out, 0o777); err != nil {
			return "", badInput(fmt.Errorf("--out: %w", err))
		}
		entries, err := os.ReadDir(out)
		if err != nil {
			return "", badInput(fmt.Errorf("--out: %w", err))
		}
		if len(entries) > 0 {
			return "", badInput(fmt.Errorf("--out %s: is not empty (it has %s): results are never written over",
				out, entries[0].Name()))
		}
		return out, nil
	}
	base := filepath.Join(resultsDir, scenario+"-"+now.Format("20060102-150405"))
	if err := os.MkdirAll(resultsDir, 0o777); err != nil {
		return "", fmt.Errorf("results directory: %w (use --out to put results elsewhere)", err)
	}
	for n := 1; ; n++ {
		dir := base
		if n > 1 {
			dir = fmt.Sprintf("%s-%d", base, n)
		}
		err := os.Mkdir(dir, 0o777)
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrExist) || n == 100 {
			return "", fmt.Errorf("results directory: %w (use --out to put results elsewhere)", err)
		}
	}
}

// madeIn returns what a run has made: the first directory below there, which was
// there before, on the way to dir; or what is in dir if dir was there.
func madeIn(there, dir string) (made []string) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	if dir == there {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			made = append(made, filepath.Join(dir, e.Name()))
		}
		return made
	}
	for filepath.Dir(dir) != there && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
	}
	return []string{dir}
}

// madeByReport returns what report writes in a result's directory.
func madeByReport(dir string) (made []string) {
	for _, name := range []string{
		results.ManifestFile, results.MessagesFile, results.QueuesFile, results.SeriesFile, results.SummaryFile,
		report.PageFile, report.PlotsDir,
	} {
		made = append(made, filepath.Join(dir, name))
	}
	return made
}

// giveBack makes files, and directories with all that is in them, the user's who ran
// sudo: they have to be what this process made. It is best effort: results that
// belong to root are results too.
func giveBack(made ...string) {
	uid, err1 := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(os.Getenv("SUDO_GID"))
	if err1 != nil || err2 != nil || os.Getuid() != 0 {
		return
	}
	for _, top := range made {
		filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				os.Lchown(path, uid, gid)
			}
			return nil
		})
	}
}

// lockResult marks a result as being written, until release is called or this
// process ends. It is best effort.
func lockResult(dir string) (release func()) {
	file, err := os.OpenFile(filepath.Join(dir, scenarioFile), os.O_RDWR, 0)
	if err != nil {
		return func() {}
	}
	_ = lockFile(file)
	return func() { file.Close() }
}

// beingWritten reports whether a run in progress is writing a result.
func beingWritten(dir string) bool {
	file, err := os.Open(filepath.Join(dir, scenarioFile))
	if err != nil {
		return false
	}
	defer file.Close()
	return lockedElsewhere(file)
}
