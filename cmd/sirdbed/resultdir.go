package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

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

// notEmpty is the error of a directory for results that has something in it.
func notEmpty(path, name string) error {
	return fmt.Errorf("%s: is not empty (it has %s): results are never written over, name another", path, name)
}

// errBusy is wrapped by the error of lockResult if another process has the lock.
var errBusy = errors.New("is being written by a run or report, or removed: wait until that has ended")

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
	if lockedElsewhere(file) {
		err = fmt.Errorf("%s %w", dir.Path(), errBusy)
	}
	file.Close()
	return nil, err
}

// beginResult writes the file by which a directory is a result, locked as by
// lockResult before it has its name: who sees the result sees that it is being written.
// lockErr is why it could not be locked; it is written then all the same.
func beginResult(dir *tree.Dir, record Record) (release func(), lockErr, err error) {
	text, err := atomicfile.Indented(record)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", dir.At(scenarioFile), err)
	}
	var kept *os.File
	err = dir.Write(scenarioFile, func(file *os.File) error {
		kept, lockErr = keepLock(file)
		_, err := file.Write(text)
		return err
	})
	if err != nil {
		kept.Close()
		return nil, nil, err
	}
	if kept == nil && lockErr == nil {
		release, lockErr = lockResult(dir)
		return release, lockErr, nil
	}
	return func() { kept.Close() }, lockErr, nil
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
