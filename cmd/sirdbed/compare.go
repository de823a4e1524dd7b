package main

import (
	"github.com/spf13/cobra"

	"sirdbed/capture/report"
	"sirdbed/capture/results"
)

func newCompare() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "compare RESULT RESULT...",
		Short: "Show results side by side",
		Long: text(`
			Show two or more results side by side: each figure of the first, and of the others with their difference to it.
			Variants are matched by name. RESULT is a result's directory or its summary.json.`),
		Example: text(`
			sirdbed compare results/incast-20250101-120000 results/incast-20250102-120000
			sirdbed compare results/model results/real --json`),
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: completeResults,
		RunE: func(c *cobra.Command, args []string) error {
			var list []*results.Summary
			for _, path := range args {
				s, err := results.ReadSummary(path)
				if err != nil {
					return badInput(err)
				}
				list = append(list, s)
			}
			comparison := report.Compare(args, list)
			if asJSON {
				return printJSON(c.OutOrStdout(), comparison)
			}
			return comparison.Print(c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: for each variant and metric the results' values, and their relative differences")
	return c
}
