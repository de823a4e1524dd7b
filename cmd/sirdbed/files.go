package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"sirdbed/capture/report"
	"sirdbed/capture/results"

	"github.com/spf13/cobra"
)

// resultFiles are the files that a command writes for CI systems, beside what it
// prints. An empty name is no file.
type resultFiles struct{ junit, markdown string }

// flags declares the files' flags.
func (f *resultFiles) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.junit, "junit", "", "write bounds and checks as test cases to a JUnit `FILE`")
	flags.StringVar(&f.markdown, "markdown", "", "write a summary in Markdown to `FILE`, such as $GITHUB_STEP_SUMMARY")
}

// check reports, before anything is run, a file that could not be written.
func (f resultFiles) check() error {
	for _, x := range []struct{ flag, path string }{{"--junit", f.junit}, {"--markdown", f.markdown}} {
		if x.path == "" {
			continue
		}
		dir := filepath.Dir(x.path)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return badInput(fmt.Errorf("%s %s: there is no directory %s", x.flag, x.path, dir))
		}
		if info, err := os.Stat(x.path); err == nil && info.IsDir() {
			return badInput(fmt.Errorf("%s %s: it is a directory", x.flag, x.path))
		}
	}
	return nil
}

// write writes the files that were asked for.
func (f resultFiles) write(of interface {
	JUnit(io.Writer) error
	Markdown(io.Writer) error
}) error {
	return errors.Join(writeTo(f.junit, of.JUnit), writeTo(f.markdown, of.Markdown))
}

// writeTo writes a file in place, since it may be a device: /dev/stdout.
func writeTo(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && info.Mode().IsRegular() {
		giveBack(path)
	}
	return errors.Join(err, write(file), file.Close())
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
