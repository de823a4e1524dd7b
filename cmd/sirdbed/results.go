package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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
			return "", badInput(fmt.Errorf("--out %s: is not empty (it has %s): results are never written over", out, entries[0].Name()))
		}
		return out, nil
	}
	base := filepath.Join("results", scenario+"-"+now.Format("20060102-150405"))
	if err := os.MkdirAll("results", 0o777); err != nil {
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
	if parent := filepath.Dir(dir); filepath.Base(parent) == "results" {
		os.Lchown(parent, uid, gid)
	}
	filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			os.Lchown(path, uid, gid)
		}
		return nil
	})
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
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, full) || strings.Contains(err.Error(), full.Error()) {
			return true
		}
	}
	return false
}
