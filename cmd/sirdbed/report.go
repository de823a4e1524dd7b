package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"sirdbed/capture/results"
)

func newReport() *cobra.Command {
	var asJSON bool
	var files resultFiles
	c := &cobra.Command{
		Use:   "report RESULT",
		Short: "Compute a result again from its raw logs",
		Long: text(`
			Compute the figures, tables and plots of a result again from the raw logs in its directory, and evaluate
			the scenario's bounds.

			It also reports what is left of a run that was killed: logs are good up to where they were cut off, and
			what is missing is named.`),
		Example: examples(`
			sirdbed report results/incast-20250101-120000
			sirdbed report results/incast-20250101-120000 --json | jq '.variants[].goodput_gbps'`),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: first(completeResults),
		RunE: func(c *cobra.Command, args []string) error {
			dir := filepath.Clean(args[0])
			if err := files.check(dir); err != nil {
				return err
			}
			record, err := readRecord(dir)
			if err != nil {
				return badInput(err)
			}
			o, err := analyze(dir, *record)
			if o != nil {
				err = errors.Join(err, files.write(o.forFiles(*record, nil)))
			}
			if err != nil {
				return err
			}
			giveBack(madeByReport(dir)...)
			if err := o.print(c.OutOrStdout(), asJSON); err != nil {
				return err
			}
			return o.verdict(c.ErrOrStderr())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON to stdout, and nothing else")
	files.flags(c)
	return c
}

// readRecord reads what run wrote down of a scenario.
func readRecord(dir string) (*Record, error) {
	record := &Record{}
	err := results.ReadJSON(filepath.Join(dir, scenarioFile), record)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not a result of sirdbed: it has no %s", dir, scenarioFile)
	}
	if err == nil && record.Scenario == nil {
		err = fmt.Errorf("%s: names no scenario", filepath.Join(dir, scenarioFile))
	}
	return record, err
}
