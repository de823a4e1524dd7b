package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"sirdbed/baselines/all"
	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/capture/verdict"
	"sirdbed/emu"
	"sirdbed/emu/tree"
	"sirdbed/scenarios"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// An outcome is what the logs of a run came to.
type outcome struct {
	dir      *tree.Dir
	variants []*results.Variant
	summary  *results.Summary
	lost     []report.Failure // what could not be analyzed, or has left nothing
}

// analyze computes a result from the raw logs in dir, and writes its files. Without
// all of its variants a result is INVALID, whatever the verdicts of the others. Of raw
// files that this process has just written it is enough to look at sizes.
func analyze(dir *tree.Dir, record Record, justWritten bool) (*outcome, error) {
	o := &outcome{dir: dir}
	var err error
	if o.variants, o.lost, err = readVariants(dir, &record, justWritten); err != nil {
		return nil, err
	}
	if len(o.variants) == 0 {
		var lost []string
		for _, l := range o.lost {
			lost = append(lost, report.Printable(l.String()))
		}
		return o, fmt.Errorf("%s has no variant whose logs can be read:\n%s", dir.Path(), strings.Join(lost, "\n"))
	}
	o.summary = results.Summarize(o.variants)
	for _, l := range o.lost {
		o.summary.Verdict, o.summary.Reasons = results.Invalid, append(o.summary.Reasons, l.String())
	}
	if o.summary.Engine == "" {
		o.summary.Engine = string(record.Engine)
	}
	o.summary.Skipped, o.summary.Set = record.Skipped, record.Scenario.Set
	o.summary.Bounds = append(scenarios.Evaluate(record.Scenario.Bounds, record.Engine, o.complete()),
		scenarios.AppBounds(o.complete())...)
	source, err := json.Marshal(record.Scenario)
	if err != nil {
		return nil, err
	}
	manifest := results.NewManifest(source, o.variants, o.summary)
	about := report.About{Command: record.again(dir, o.summary.Seed), Params: allParams}
	err = errors.Join(
		results.Write(dir, manifest, o.summary, o.variants),
		report.Write(dir, manifest, o.summary, o.variants, about),
	)
	return o, explainDisk(err, dir.Path())
}

// readVariants computes the results of every variant in a result's directory and
// judges them, in the scenario's order. What cannot be read or is missing is in lost.
func readVariants(dir *tree.Dir, record *Record, justWritten bool) (
	variants []*results.Variant, lost []report.Failure, err error,
) {
	entries, err := dir.List(results.VariantsDir)
	if err != nil {
		return nil, nil, badInput(fmt.Errorf("%s is not a result of sirdbed: %w", dir.Path(), err))
	}
	audit := results.NewAudit(dir, record.Checksums, justWritten)
	there := inOrder(entries, record.Scenario)
	for _, name := range there {
		v, err := readVariant(dir, name)
		if err != nil {
			lost = append(lost, report.Failure{Variant: name, Reason: fmt.Sprintf("nothing to report: %v", err)})
			continue
		}
		v.Files = audit.Of(name)
		v.Verdict = verdict.Judge(v, scenarios.Asked(record.Scenario.Bounds, record.Engine, v)...)
		variants = append(variants, v)
	}
	for _, name := range record.expected() {
		if slices.Contains(there, name) {
			continue
		}
		reason := "nothing to report: it was not run"
		if audit.Has(name) {
			reason = "nothing to report: its files are missing"
		}
		lost = append(lost, report.Failure{Variant: name, Reason: reason})
	}
	return variants, lost, nil
}

// readVariant computes the results of a variant.
func readVariant(dir *tree.Dir, name string) (*results.Variant, error) {
	logs, err := dir.Sub(results.VariantsDir + "/" + name)
	if err != nil {
		return nil, err
	}
	defer logs.Close()
	return results.Analyze(emu.RunDir{Dir: logs}, results.Options{Framing: framing, ToAck: toAck})
}

// framing returns how a protocol cuts messages into packets.
func framing(protocol string, mtu units.Bytes) (topo.Framing, error) {
	p, err := all.Find(protocol)
	if err != nil {
		return topo.Framing{}, err
	}
	return p.Framing(mtu), nil
}

// toAck reports whether a protocol's authors measure slowdown until the acknowledgement.
func toAck(protocol string) bool {
	p, err := all.Find(protocol)
	return err == nil && p.ToAck
}

// complete returns the variants that ran to their end. Bounds are not evaluated on
// the others.
func (o *outcome) complete() (list []*results.Variant) {
	for _, v := range o.variants {
		if v.Facts != nil && v.Facts.Failure == "" {
			list = append(list, v)
		}
	}
	return list
}

// inOrder lists the variants that have a directory, in the scenario's order.
func inOrder(entries []os.DirEntry, s *scenarios.Scenario) (names []string) {
	there := map[string]bool{}
	for _, e := range entries {
		there[e.Name()] = e.IsDir()
	}
	for _, label := range s.Labels() {
		if there[label] {
			names = append(names, label)
			delete(there, label)
		}
	}
	for _, e := range entries {
		if there[e.Name()] {
			names = append(names, e.Name())
		}
	}
	return names
}

// report analyzes and prints, and returns the error with which the command ends.
func (r *scenarioRun) report() error {
	if !r.json {
		fmt.Fprintln(r.stderr, "analyzing")
	}
	o, err := analyze(r.dir, r.record(), true)
	if len(r.failures) > 0 {
		defer r.listFailures()
	}
	fileErr := r.files.write(r.forFiles(o, err))
	if o == nil || o.summary == nil {
		if !r.interrupted || len(r.failures) > 0 || fileErr != nil {
			return cmp.Or(err, fileErr)
		}
		fmt.Fprintf(r.stderr, "interrupted: nothing was measured; %s holds the scenario alone\n", r.dir.Path())
		return &codedError{exitStopped, errReported}
	}
	err = cmp.Or(err, fileErr)
	if printErr := o.print(r.stdout, r.json); printErr != nil && !r.interrupted { // its terminal may be gone
		return printErr
	}
	switch {
	case err != nil && noRoom(err) && r.diskReported():
		return &codedError{exitFailed, errReported}
	case err != nil:
		return err
	case len(r.failures) > 0:
		return &codedError{exitFailed, errReported}
	case r.interrupted:
		fmt.Fprintln(r.stderr, "interrupted: the above is what was measured until then")
		return &codedError{exitStopped, errReported}
	}
	return o.verdict(r.stderr)
}

// print writes a result as tables, or as JSON.
func (o *outcome) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return printJSON(w, o.summary)
	}
	if err := report.Print(w, o.summary); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nResults: %s\n", report.Printable(o.dir.Path()))
	if _, err := o.dir.Lstat(report.PageFile); err == nil {
		fmt.Fprintf(w, "To look at: %s\n", o.dir.At(report.PageFile))
	}
	return nil
}

// listFailures names the variants that failed. Why they did, progress has written,
// unless it is off.
func (r *scenarioRun) listFailures() {
	var names []string
	for _, f := range r.failures {
		names = append(names, f.variant)
		if r.json {
			fmt.Fprintf(r.stderr, "%s failed: %v\n", f.variant, f.err)
		}
	}
	fmt.Fprintf(r.stderr, "%d of %d variants failed: %s\n", len(names), len(r.experiments), strings.Join(names, ", "))
}

// diskReported reports whether a variant failed because there was no room for its files,
// which progress has written.
func (r *scenarioRun) diskReported() bool {
	return slices.ContainsFunc(r.failures, func(f failure) bool { return noRoom(f.err) })
}

// advice is what to do, on the engine of the run, about the first check that made the
// verdict INVALID.
func (o *outcome) advice() string {
	for _, v := range o.summary.Variants {
		for _, made := range v.Checks {
			for _, c := range verdict.Checks() {
				if made.Level == results.Invalid && c.Name == made.Name {
					return c.Name + ". " + c.Advice(emu.EngineName(o.summary.Engine))
				}
			}
		}
	}
	return ""
}

// verdict returns the error with which a command ends that has printed a result.
func (o *outcome) verdict(stderr io.Writer) error {
	if o.summary.Verdict == results.Invalid {
		what := "see its reasons above"
		if do := o.advice(); do != "" && len(o.lost) == 0 && len(o.complete()) == len(o.variants) {
			what = do
		}
		fmt.Fprintln(stderr, "the verdict is INVALID: "+what)
		return &codedError{exitInvalid, errReported}
	}
	unmet := 0
	for _, b := range o.summary.Bounds {
		if !b.OK {
			unmet++
		}
	}
	if unmet > 0 {
		fmt.Fprintf(stderr, "%d of %d bounds are not met\n", unmet, len(o.summary.Bounds))
		return &codedError{exitUnmet, errReported}
	}
	return nil
}
