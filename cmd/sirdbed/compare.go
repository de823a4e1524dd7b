package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sirdbed/capture/report"
	"sirdbed/capture/results"
)

const compareHelp = `
	Show two or more results side by side: each figure of the first, and those of the others with their absolute and
	relative difference from it. RESULT is the directory of a result, or its summary.json, sweep.json or
	comparison.json. Variants are matched by name. Results of sweeps and of reproductions are matched point by point,
	whatever their seeds and engines: with several seeds a figure is their median, and a column has their spread. Pairs
	of variants or protocols that the first result tells apart (by 10 %, goodput by 5 %) and another puts in a different
	order are listed below.

	With --within, each row says whether it is within PERCENT of the first, and the exit code is 4, as for a missed
	bound, if a figure differs by more or is missing from a result. Figures of fewer than 100 samples have no limit,
	figures of several seeds whose ranges overlap do not count as different, and neither do queue depths less than the
	smallest frame, 84 bytes, apart, unless PERCENT is 0. As for a run, the exit code is 3 if a result's verdict is
	INVALID, and 4 if one of its bounds is missed. Results without a common variant are bad input, with exit code 2.

	compare RESULT paper sets a run, a sweep or a reproduction beside the numbers that the paper printed, cell by cell:
	p99 slowdown at half load, the highest goodput and the deepest queue over the loads that were run, for the three
	configurations and workloads, by whatever scenario. The exit code is 3 as above, and 4 if a cell is outside its
	tolerance (15 % for sird, 25 % for others) or unstable on one side only; suspect prints do not count. A
	result without any of these cells is bad input, and so is one with two points of the same cell, load and seed, such
	as a sweep over warm-ups.`

const compareExamples = `
	sirdbed compare results/incast-20250101-120000 results/incast-20250102-120000
	sirdbed compare results/model results/real --json
	sirdbed compare results/before results/after --within 5 --junit compare.xml
	sirdbed compare results/sweep-model results/sweep-virtual --within 10
	sirdbed compare results/reproduce-20260101-120000 paper
	sirdbed compare results/small-wkc-sweep-20260101-120000 paper --json`

// compareOptions are the options of compare on the command line.
type compareOptions struct {
	json    bool
	within  float64 // percent
	limited bool    // by within
	files   resultFiles
}

func newCompare() *cobra.Command {
	var o compareOptions
	c := &cobra.Command{
		Use:               "compare RESULT (RESULT... | paper)",
		Short:             "Show results side by side, or beside what the paper printed",
		Long:              text(compareHelp),
		Example:           examples(compareExamples),
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: completeCompared,
		RunE: func(c *cobra.Command, args []string) error {
			if !(o.within >= 0) || math.IsInf(o.within, 0) || math.Signbit(o.within) { // NaN and -0 too
				return badInput(errors.New("--within: it is a percentage of 0 or more, and finite"))
			}
			o.limited = c.Flags().Changed("within")
			return o.compare(args, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.BoolVar(&o.json, "json", false, "print JSON: for each variant and metric, the values and their differences")
	f.Float64Var(&o.within, "within", 0,
		"allow figures to differ from the first result's by `PERCENT` (default: by anything)")
	o.files.flags(c)
	completeFlag(c, "within", noFiles)
	return c
}

// againstPrint is the name that stands for what the paper printed.
const againstPrint = "paper"

// compare prints results side by side, and fails if they differ by more than is
// allowed.
func (o *compareOptions) compare(paths []string, stdout, stderr io.Writer) error {
	print := slices.Contains(paths, againstPrint)
	if print {
		paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p == againstPrint })
		if len(paths) != 1 {
			return badInput(errors.New("paper is compared with one result"))
		}
		if o.limited {
			return badInput(errors.New("--within: against the paper's numbers the tolerances are 15 % for sird and " +
				"25 % for others"))
		}
	}
	var list []*compared
	var dirs []string
	for _, path := range paths {
		c, err := readCompared(path, stderr)
		if err != nil {
			return badInput(errors.New(report.Printable(err.Error())))
		}
		list, dirs = append(list, c), append(dirs, c.dir)
	}
	if err := o.files.check(dirs...); err != nil {
		return err
	}
	if print {
		return o.withPrint(list[0], stdout, stderr)
	}
	return o.sideBySide(paths, list, stdout, stderr)
}

// sideBySide compares results with each other.
func (o *compareOptions) sideBySide(paths []string, list []*compared, stdout, stderr io.Writer) error {
	for _, c := range list[1:] {
		if c.kind() != list[0].kind() {
			return badInput(fmt.Errorf("%s is of a %s, %s of a %s: compare results of one kind",
				report.Printable(paths[0]), list[0].kind(), report.Printable(c.path), c.kind()))
		}
	}
	var comparison *report.Comparison
	if list[0].summary != nil {
		var summaries []*results.Summary
		for _, c := range list {
			summaries = append(summaries, c.summary)
		}
		if err := report.Common(paths, summaries); err != nil {
			return badInput(err)
		}
		comparison = report.Compare(paths, summaries)
	} else {
		asked, some := askedMetrics(list)
		if len(some) > 0 {
			fmt.Fprintf(stderr, "left out, since not all results have it: metric %s\n",
				report.Printable(strings.Join(some, ", ")))
		}
		var grids [][]report.GridFigure
		for _, c := range list {
			grids = append(grids, c.grid(asked))
		}
		if comparison = report.CompareGrids(paths, grids); !comparison.Common() {
			return badInput(errors.New("the results have no point in common: their axes or labels differ"))
		}
		comparison.Differences = report.Differences(paths, gridConditions(list))
	}
	if o.limited {
		share := o.within / 100
		comparison.Within = &share
	}
	if err := o.files.write(comparison); err != nil {
		return err
	}
	var err error
	if o.json {
		err = printJSON(stdout, comparison)
	} else {
		err = comparison.Print(stdout)
	}
	if err != nil || !o.limited {
		return err
	}
	return verdictOf(comparison, list, stderr)
}

// verdictOf returns the error with which a comparison with a limit ends, as a run
// does: where its JUnit file has failures, which is for any of the results.
func verdictOf(c *report.Comparison, list []*compared, stderr io.Writer) error {
	code := exitFine
	if !c.Count().OK() {
		fmt.Fprintln(stderr, c.Told())
		code = exitUnmet
	}
	for _, r := range list {
		if r.summary == nil {
			continue
		}
		unmet := 0
		for _, b := range r.summary.Bounds {
			if !b.OK {
				unmet++
			}
		}
		if unmet > 0 {
			fmt.Fprintf(stderr, "%s: %d of %d bounds are not met\n", report.Printable(r.path), unmet,
				len(r.summary.Bounds))
			code = max(code, exitUnmet)
		}
	}
	return coded(invalidOf(list, code, stderr))
}

// invalidOf says which results are INVALID, and returns the exit code for it, or the one that is
// given.
func invalidOf(list []*compared, code int, stderr io.Writer) int {
	for _, r := range list {
		if r.isInvalid() {
			fmt.Fprintf(stderr, "%s: the verdict is INVALID\n", report.Printable(r.path))
			code = exitInvalid
		}
	}
	return code
}

// coded returns the error that ends the command with an exit code, whose reason has been written.
func coded(code int) error {
	if code == exitFine {
		return nil
	}
	return &codedError{code, errReported}
}

// isInvalid reports whether a result's verdict is INVALID, or that of a point that was not ended
// since a queue grew.
func (c *compared) isInvalid() bool {
	switch {
	case c.summary != nil:
		return isInvalid(c.summary)
	case c.sweep != nil:
		invalid := func(r SweepRow) bool { return r.Verdict == string(results.Invalid) && !r.Unbounded }
		return slices.ContainsFunc(c.sweep.Points, invalid)
	}
	return false
}

// isInvalid reports whether a result's verdict is INVALID, or a check's of it.
func isInvalid(s *results.Summary) bool {
	return s.Verdict == results.Invalid || slices.ContainsFunc(s.Variants, func(v results.VariantSummary) bool {
		return v.Verdict == results.Invalid ||
			slices.ContainsFunc(v.Checks, func(c results.Check) bool { return c.Level == results.Invalid })
	})
}
