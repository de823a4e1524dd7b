package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/emu/tree"
)

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
		Use:   "compare RESULT RESULT...",
		Short: "Show results side by side",
		Long: text(`
			Show two or more results side by side: each figure of the first, and those of the others with their
			difference from it. Variants are matched by name. RESULT is the directory of a result, or its
			summary.json.

			With --within each row says whether it is within that of the first, and the exit code is 4 if a figure
			differs by more, or is missing in a result, as for a bound that is not met. Figures of fewer than 100
			samples have no limit, and depths of queues that differ by less than the smallest frame, 84 bytes, are
			the same, unless PERCENT is 0. As for a run, the exit code is 3 if the verdict of a result is INVALID, and
			4 if a bound of one is not met. Results without a common variant are bad input, with exit code 2.`),
		Example: examples(`
			sirdbed compare results/incast-20250101-120000 results/incast-20250102-120000
			sirdbed compare results/model results/real --json
			sirdbed compare results/before results/after --within 5 --junit compare.xml`),
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: completeResults,
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

// compare prints results side by side, and fails if they differ by more than is
// allowed.
func (o *compareOptions) compare(paths []string, stdout, stderr io.Writer) error {
	var dirs []string
	for _, path := range paths {
		if filepath.Base(path) == results.SummaryFile {
			path = filepath.Dir(path)
		}
		dirs = append(dirs, path)
	}
	if err := o.files.check(dirs...); err != nil {
		return err
	}
	var list []*results.Summary
	for _, path := range paths {
		s, err := readCompared(path, stderr)
		if err != nil {
			return badInput(errors.New(report.Printable(err.Error())))
		}
		list = append(list, s)
	}
	if err := report.Common(paths, list); err != nil {
		return badInput(err)
	}
	comparison := report.Compare(paths, list)
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
	return verdictOf(comparison, paths, list, stderr)
}

// readCompared reads a result. If raw files of it are damaged or missing, its verdict
// is INVALID, whatever it was.
func readCompared(path string, stderr io.Writer) (*results.Summary, error) {
	s, err := results.ReadSummary(path)
	if err != nil {
		return nil, err
	}
	if filepath.Base(path) == results.SummaryFile {
		path = filepath.Dir(path) // of the result, if it is one: it may be damaged
	}
	dir, err := tree.Open(path)
	if err != nil {
		return s, nil
	}
	defer dir.Close()
	var record struct {
		Checksums bool `json:"checksums"`
	}
	if err := results.ReadJSON(dir, scenarioFile, &record); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if damage := results.NewAudit(dir, record.Checksums, false).Apply(s); damage != "" {
		fmt.Fprintf(stderr, "%s is INVALID: %s\n", report.Printable(path), report.Printable(damage))
	}
	return s, nil
}

// verdictOf returns the error with which a comparison with a limit ends, as a run
// does: where its JUnit file has failures, which is for any of the results.
func verdictOf(c *report.Comparison, paths []string, list []*results.Summary, stderr io.Writer) error {
	code := exitFine
	if !c.Count().OK() {
		fmt.Fprintln(stderr, c.Told())
		code = exitUnmet
	}
	for i, s := range list {
		unmet := 0
		for _, b := range s.Bounds {
			if !b.OK {
				unmet++
			}
		}
		if unmet > 0 {
			fmt.Fprintf(stderr, "%s: %d of %d bounds are not met\n", report.Printable(paths[i]), unmet, len(s.Bounds))
			code = max(code, exitUnmet)
		}
	}
	for i, s := range list {
		if isInvalid(s) {
			fmt.Fprintf(stderr, "%s: the verdict is INVALID\n", report.Printable(paths[i]))
			code = exitInvalid
		}
	}
	if code == exitFine {
		return nil
	}
	return &codedError{code, errReported}
}

// isInvalid reports whether a result's verdict is INVALID, or a check's of it.
func isInvalid(s *results.Summary) bool {
	return s.Verdict == results.Invalid || slices.ContainsFunc(s.Variants, func(v results.VariantSummary) bool {
		return v.Verdict == results.Invalid ||
			slices.ContainsFunc(v.Checks, func(c results.Check) bool { return c.Level == results.Invalid })
	})
}
