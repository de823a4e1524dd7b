package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"sirdbed/capture/report"
	"sirdbed/capture/results"
)

func newCompare() *cobra.Command {
	var asJSON bool
	var files resultFiles
	var within float64
	c := &cobra.Command{
		Use:   "compare RESULT RESULT...",
		Short: "Show results side by side",
		Long: text(`
			Show two or more results side by side: each figure of the first, and of the others with their difference to it.
			Variants are matched by name. RESULT is a result's directory or its summary.json.

			With --within a figure that differs by more ends the command with exit code 4, as a bound does that is not met.
			Figures of fewer than 100 samples are held to no limit.`),
		Example: text(`
			sirdbed compare results/incast-20250101-120000 results/incast-20250102-120000
			sirdbed compare results/model results/real --json
			sirdbed compare results/before results/after --within 5 --junit compare.xml`),
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: completeResults,
		RunE: func(c *cobra.Command, args []string) error {
			if err := files.check(); err != nil {
				return err
			}
			if !(within >= 0) { // NaN too
				return badInput(errors.New("--within: it is a percentage of 0 or more"))
			}
			var list []*results.Summary
			for _, path := range args {
				s, err := results.ReadSummary(path)
				if err != nil {
					return badInput(err)
				}
				list = append(list, s)
			}
			comparison := report.Compare(args, list)
			if c.Flags().Changed("within") {
				share := within / 100
				comparison.Within = &share
			}
			if err := files.write(comparison); err != nil {
				return err
			}
			var err error
			if asJSON {
				err = printJSON(c.OutOrStdout(), comparison)
			} else {
				err = comparison.Print(c.OutOrStdout())
			}
			if beyond, of := comparison.Beyond(); err == nil && beyond > 0 {
				fmt.Fprintf(c.ErrOrStderr(), "%d of %d figures differ from the first result's by more than %g %%\n", beyond, of, within)
				return &codedError{exitUnmet, errReported}
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: for each variant and metric the results' values, and their relative differences")
	c.Flags().Float64Var(&within, "within", 0, "how far figures may differ from the first result's, in percent (default: as they like)")
	files.flags(c)
	completeFlag(c, "within", noFiles)
	return c
}
