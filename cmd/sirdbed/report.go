package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/emu/tree"
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

			It also reports what is left of a killed run: logs are good up to where they were cut off, and what is
			missing is named. Raw files are compared with the checksums that the run left: if one is damaged or missing,
			the verdict is INVALID.

			A result that cannot be written, such as another user's, is reported on the terminal only.`),
		Example: examples(`
			sirdbed report results/incast-20250101-120000
			sirdbed report results/incast-20250101-120000 --json | jq '.variants[].goodput_gbps'`),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: first(completeResults),
		RunE: func(c *cobra.Command, args []string) error {
			return reportAgain(filepath.Clean(args[0]), asJSON, files, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON to stdout, and nothing else")
	files.flags(c)
	return c
}

// reportAgain computes a result again, writes its files and prints it. One that
// cannot be written is printed all the same.
func reportAgain(path string, asJSON bool, files resultFiles, stdout, stderr io.Writer) error {
	if err := files.check(path); err != nil {
		return err
	}
	dir, err := tree.Open(path)
	if err != nil {
		return badInput(fmt.Errorf("%s is not a result of sirdbed: %w", path, err))
	}
	defer dir.Close()
	record, err := readRecord(dir)
	if err != nil {
		return badInput(err)
	}
	unlock, err := lockResult(dir)
	switch {
	case errors.Is(err, errBusy), errors.Is(err, errReadLock):
		return err
	case err == nil:
		defer unlock()
		if err := mergeParts(dir, record); err != nil {
			fmt.Fprintf(stderr, "%s: what guests have left is not all read: %v\n", path, err)
		}
	case beingWritten(dir): // who cannot write it cannot lock it, but see that
		return fmt.Errorf("%s %w", path, errBusy)
	}
	o, err := analyze(dir, *record, false)
	if o != nil {
		fileErr := files.write(o.forFiles(*record, nil))
		if o.summary == nil {
			return errors.Join(err, fileErr)
		}
		if printErr := o.print(stdout, asJSON); printErr != nil {
			return printErr
		}
		if !record.Checksums {
			fmt.Fprintf(stderr, "%s has no checksums, as the sirdbed that made it kept none: "+
				"whether its raw files are as they were is not known\n", path)
		}
		err = errors.Join(explainUnwritable(err, path), fileErr)
	}
	if err != nil {
		return err
	}
	return o.verdict(stderr)
}

// mergeParts makes one of what the parts of a killed run have left, in each variant.
func mergeParts(dir *tree.Dir, record *Record) error {
	merge := engines[record.Engine].merge
	entries, err := dir.List(results.VariantsDir)
	if merge == nil || err != nil {
		return nil // who reads the result says why
	}
	for _, e := range entries {
		logs, openErr := dir.Sub(results.VariantsDir + "/" + e.Name())
		if openErr != nil {
			continue
		}
		x := &emu.Experiment{}
		_, ended := logs.Lstat(emu.FactsFile)
		if errors.Is(ended, fs.ErrNotExist) && results.ReadJSON(logs, emu.ExperimentFile, x) == nil {
			err = errors.Join(err, merge(emu.RunDir{Dir: logs}, x))
		}
		logs.Close()
	}
	return err
}

// explainUnwritable turns the error of a result that may not be written into one that
// says what to do, however many files that is about. Other errors stay as they are.
func explainUnwritable(err error, path string) error {
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return err
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("%s cannot be written, so that the above is not kept (%s): report a copy of it (cp -r), "+
		"or run this as its owner or with sudo", path, first)
}

// readRecord reads what run wrote down of a scenario.
func readRecord(dir *tree.Dir) (*Record, error) {
	record := &Record{}
	err := results.ReadJSON(dir, scenarioFile, record)
	if errors.Is(err, fs.ErrNotExist) {
		for _, file := range []string{sweepJSON, comparisonJSON} {
			if _, err := dir.Lstat(file); err == nil {
				return nil, fmt.Errorf("%s is the result of a sweep or a reproduction, which is made again "+
					"of its points by the same command: its %s has it", dir.Path(), report.PageFile)
			}
		}
		return nil, fmt.Errorf("%s is not a result of sirdbed: it has no %s", dir.Path(), scenarioFile)
	}
	if err == nil && record.Scenario == nil {
		err = noScenario(dir)
	}
	return record, err
}

func noScenario(dir *tree.Dir) error {
	return fmt.Errorf("%s: names no scenario", dir.At(scenarioFile))
}
