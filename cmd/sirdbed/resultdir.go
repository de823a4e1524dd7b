package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"sirdbed/capture/report"
	"sirdbed/emu/atomicfile"
	"sirdbed/emu/tree"
)

// makeResults makes the directory of a run: out if it is given, which must be
// empty then, otherwise results/SCENARIO-TIME here.
func makeResults(out, scenario string, now time.Time) (*tree.Dir, error) {
	if out != "" {
		dir, err := tree.Make(out)
		if err != nil {
			return nil, badInput(fmt.Errorf("--out: %w", err))
		}
		entries, err := dir.List(".")
		if err == nil && len(entries) > 0 {
			err = notEmpty(out, entries[0].Name())
		}
		if err != nil {
			dir.Close()
			return nil, badInput(fmt.Errorf("--out %w", err))
		}
		return dir, nil
	}
	all, err := tree.Make(resultsDir)
	if err != nil {
		return nil, fmt.Errorf("results directory: %w (use --out to put results elsewhere)", err)
	}
	defer all.Close()
	base := scenario + "-" + now.Format("20060102-150405")
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		dir, err := all.Make(name)
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrExist) || n == 100 {
			return nil, fmt.Errorf("results directory: %w (use --out to put results elsewhere)", err)
		}
	}
}

// reserveResults makes the directory of --out, or fails, before hours are spent on what goes into
// it. "": there is no such option. points is the directory of points, which would be in its way.
func reserveResults(out, points string) error {
	if out == "" {
		return nil
	}
	if isIn(points, out) {
		return badInput(fmt.Errorf("--points %s is in the directory of --out, which is for results alone: name another",
			report.Printable(points)))
	}
	dir, err := makeResults(out, "", time.Now())
	if err != nil {
		return err
	}
	return dir.Close()
}

// isIn reports whether a path is a directory, or in it.
func isIn(path, dir string) bool {
	from, err1 := filepath.Abs(dir)
	to, err2 := filepath.Abs(path)
	rest, err := filepath.Rel(from, to)
	return errors.Join(err1, err2, err) == nil && filepath.IsLocal(rest)
}

// showGrid writes the files of a sweep or a reproduction, prints its figures, and says where the
// files are. Figures that took hours are printed even if no file can be written.
func showGrid(w io.Writer, out, name string, write func(*tree.Dir) error, tables func() []report.Table) error {
	path, err := writeGrid(out, name, write)
	if e := report.PrintTables(w, tables()); e != nil || err != nil {
		return cmp.Or(err, e)
	}
	_, err = fmt.Fprintf(w, "\nResults: %s\nTo look at: %s\n", report.Printable(path),
		report.Printable(filepath.Join(path, report.PageFile)))
	return err
}

// writeGrid writes files into a directory as makeResults makes, and returns its path.
func writeGrid(out, name string, write func(*tree.Dir) error) (path string, err error) {
	dir, err := makeResults(out, name, time.Now())
	if err == nil {
		defer dir.Close()
		path, err = dir.Path(), explainDisk(write(dir), dir.Path())
	}
	if err != nil {
		err = fmt.Errorf("%w; all points are kept: the same command with another --out writes the files", err)
	}
	return path, err
}

// notEmpty is the error of a directory for results that has something in it.
func notEmpty(path, name string) error {
	return fmt.Errorf("%s: is not empty (it has %s): results are never written over, name another", path, name)
}

// Errors of lockResult where another process has a lock.
var (
	errBusy     = errors.New("is being written by a run or report, or removed: wait until that has ended")
	errReadLock = errors.New("holds a read lock") // as no sirdbed does, and whoever may read the file can
)

// On systems other than Linux a listing has the lock of a result for a moment, and must
// not keep a run from it.
const (
	lockTries = 100
	lockPause = 10 * time.Millisecond
)

// lockResult marks a result as being written, until release is called or this
// process ends.
func lockResult(dir *tree.Dir) (release func(), err error) {
	file, err := dir.Edit(scenarioFile)
	if err != nil {
		return nil, err
	}
	for range lockTries {
		if err = lockFile(file); !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(lockPause)
	}
	if err == nil {
		return func() { file.Close() }, nil
	}
	defer file.Close()
	return nil, notLocked(dir, file, err)
}

// notLocked is the error of a result that could not be locked. err is the system's.
func notLocked(dir *tree.Dir, file *os.File, err error) error {
	switch {
	case lockedElsewhere(file):
		return fmt.Errorf("%s %w", dir.Path(), errBusy)
	case errors.Is(err, syscall.EWOULDBLOCK):
		holder := "another process (lsof names it)"
		if pid := lockHolder(file); pid > 0 {
			holder = fmt.Sprintf("process %d", pid)
		}
		return fmt.Errorf("%s %w on %s: wait until it has ended, or end it",
			holder, errReadLock, dir.At(scenarioFile))
	}
	return err
}

// beginResult writes the file by which a directory is a result, locked by lock, which
// is keepLock, before it has its name: who sees the result sees that it is being
// written. On a file system that has no locks noLocks says so, and it is not locked.
func beginResult(dir *tree.Dir, record Record, lock func(*os.File) (*os.File, error)) (
	release func(), noLocks, err error) {
	text, err := atomicfile.Indented(record)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", dir.At(scenarioFile), err)
	}
	var kept *os.File
	// Nobody else can open it to lock it first.
	err = dir.WriteAlone(scenarioFile, func(file *os.File) (err error) {
		if kept, err = lock(file); lacksLocks(err) {
			noLocks = err
		} else if err != nil {
			return notLocked(dir, file, err)
		}
		_, err = file.Write(text)
		return err
	})
	if err != nil {
		kept.Close()
		return nil, nil, err
	}
	release = func() { kept.Close() }
	if kept == nil && noLocks == nil {
		if release, err = lockResult(dir); lacksLocks(err) {
			return func() {}, err, nil
		}
	}
	return release, noLocks, err
}

// beingWritten reports whether a run in progress, or a report, is writing a result.
func beingWritten(dir *tree.Dir) bool {
	file, err := dir.Open(scenarioFile)
	if err != nil {
		return false
	}
	defer file.Close()
	return lockedElsewhere(file)
}
