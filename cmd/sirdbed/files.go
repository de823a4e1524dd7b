package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/emu/atomicfile"
	"sirdbed/emu/tree"

	"github.com/spf13/cobra"
)

// resultFiles are the files that a command writes for CI systems, beside what it
// prints. An empty name is no file.
type resultFiles struct{ junit, markdown string }

// flags declares the files' flags.
func (f *resultFiles) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.junit, "junit", "", "write bounds and checks as test cases to a JUnit `FILE`")
	flags.StringVar(&f.markdown, "markdown", "",
		"write a summary in Markdown to `FILE`, at its end if that is $GITHUB_STEP_SUMMARY")
}

// stepSummary is the environment variable that names the file to which the steps of
// a job in GitHub Actions append.
const stepSummary = "GITHUB_STEP_SUMMARY"

// check reports, before anything is run, a file that could not be written, or that
// is one of the results in dirs.
func (f resultFiles) check(dirs ...string) error {
	var before string
	for _, x := range []struct{ flag, path string }{{"--junit", f.junit}, {"--markdown", f.markdown}} {
		if x.path == "" {
			continue
		}
		if err := checkWritable(x.path); err != nil {
			return badInput(fmt.Errorf("%s %s: %w", x.flag, x.path, err))
		}
		at := resolved(x.path)
		if at == before {
			return badInput(fmt.Errorf("--junit and --markdown are the same file, %s: name two", x.path))
		}
		before = at
		for _, dir := range dirs {
			if inside, err := filepath.Rel(resolved(dir), at); err == nil && ofResult(inside) {
				return badInput(fmt.Errorf("%s %s: is a file of the result %s itself: choose another name",
					x.flag, x.path, dir))
			}
		}
	}
	return nil
}

// checkWritable tries whether a file could be written, and leaves it as it is.
func checkWritable(path string) error {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no directory %s: make it, or name another", dir)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a directory: name a file")
	case err == nil && !info.Mode().IsRegular(): // a device
		return nil
	case err == nil:
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("cannot be written: %w: name another file", err)
		}
		return file.Close()
	}
	if _, err := os.Lstat(path); err == nil {
		return errors.New("it is a link to nothing: remove it, or name another file")
	}
	file, err := os.CreateTemp(dir, ".sirdbed-")
	if err != nil {
		return fmt.Errorf("cannot be written: %w: name another file", err)
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// resolved returns an absolute path without links, as far as there is something.
func resolved(path string) string {
	path, _ = filepath.Abs(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}

// ofResult reports whether a path inside a result's directory is that itself, or one
// that run and report write.
func ofResult(inside string) bool {
	first, _, _ := strings.Cut(filepath.ToSlash(inside), "/")
	return slices.Contains([]string{
		".", scenarioText, scenarioFile, results.ChecksumsFile, results.VariantsDir, results.SummaryFile,
		results.ManifestFile, results.MessagesFile, results.QueuesFile, results.SeriesFile,
		report.PageFile, report.PlotsDir,
	}, strings.TrimSuffix(first, atomicfile.Suffix))
}

// write writes the files that were asked for.
func (f resultFiles) write(of interface {
	JUnit(io.Writer) error
	Markdown(io.Writer) error
}) error {
	how := os.O_TRUNC
	if summary := os.Getenv(stepSummary); summary != "" && f.markdown != "" &&
		resolved(summary) == resolved(f.markdown) {
		how = os.O_APPEND
	}
	return errors.Join(writeTo(f.junit, os.O_TRUNC, of.JUnit), writeTo(f.markdown, how, of.Markdown))
}

// writeTo writes a file in place, since it may be a device: /dev/stdout. how is
// os.O_TRUNC or os.O_APPEND.
func writeTo(path string, how int, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		tree.Own(file)
	} else if errors.Is(err, fs.ErrExist) {
		// A pipe that nobody reads is an error, and does not wait for a reader.
		file, err = os.OpenFile(path, os.O_WRONLY|how|syscall.O_NONBLOCK, 0)
	}
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// forFiles returns the outcome of r for files of CI systems; o is nil if err kept
// its logs from being analyzed.
func (r *scenarioRun) forFiles(o *outcome, err error) report.Outcome {
	var failed []report.Failure
	for _, f := range r.failures {
		failed = append(failed, report.Failure{Variant: f.variant, Reason: f.err.Error()})
	}
	if o == nil {
		o = &outcome{}
		for _, label := range r.labels() {
			o.lost = append(o.lost, report.Failure{Variant: label, Reason: err.Error()})
		}
	}
	return o.forFiles(r.record(), failed)
}

// forFiles returns the outcome for files of CI systems, with the variants that
// failed for a reason that the logs do not tell. Without a summary, that has the
// names of the scenario and the engine.
func (o *outcome) forFiles(record Record, failed []report.Failure) report.Outcome {
	f := report.Outcome{Summary: o.summary, Failed: failed}
	if o.summary == nil {
		f.Summary = &results.Summary{
			Scenario: record.Scenario.Name, Engine: string(record.Engine), Verdict: results.Invalid,
		}
	}
	for _, lost := range o.lost {
		if !slices.ContainsFunc(f.Failed, func(known report.Failure) bool { return known.Variant == lost.Variant }) {
			f.Failed = append(f.Failed, lost)
		}
	}
	return f
}
