package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
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

// giveBack makes results the user's who ran sudo. It is best effort: results
// that belong to root are results too.
func giveBack(dir string) {
	uid, err1 := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(os.Getenv("SUDO_GID"))
	if err1 != nil || err2 != nil || os.Getuid() != 0 {
		return
	}
	if parent := filepath.Dir(dir); filepath.Base(parent) == resultsDir {
		os.Lchown(parent, uid, gid)
	}
	filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			os.Lchown(path, uid, gid)
		}
		return nil
	})
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
