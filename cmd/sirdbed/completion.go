package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"sirdbed/scenarios"
)

// What the shell is offered when a user asks it to complete a command line. Where
// nothing fits, file names are, unless the directive says otherwise.

// A completer lists what may stand at a place of the command line, given what is
// there of it already.
type completer = cobra.CompletionFunc

// noFiles completes nothing, not even file names.
func noFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// directories completes names of directories.
func directories(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeScenario completes the one argument SCENARIO: names of those in the
// binary, or else files.
func completeScenario(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return starting(scenarios.Names(), begun), cobra.ShellCompDirectiveDefault
}

// completeEngine completes the name of an engine.
func completeEngine(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return starting(engineNames(), begun), cobra.ShellCompDirectiveNoFileComp
}

// completeVariants completes a list of variants of the scenario that is the first
// argument, with commas between them.
func completeVariants(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	s, err := scenarios.Load(args[0])
	if err != nil {
		return cobra.AppendActiveHelp(nil, err.Error()), cobra.ShellCompDirectiveNoFileComp
	}
	before := begun[:strings.LastIndex(begun, ",")+1]
	var list []string
	for _, label := range s.Labels() {
		list = append(list, before+label)
	}
	return starting(list, begun), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeResults completes results of the usual directory, and other ones by
// their directories.
func completeResults(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return starting(resultsWith(scenarioFile), begun), cobra.ShellCompDirectiveDefault
}

// completeCompared completes results of runs, sweeps and reproductions, and what the paper printed.
func completeCompared(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	list := resultsWith(scenarioFile, sweepJSON, comparisonJSON)
	if len(args) == 1 {
		list = append(list, againstPrint)
	}
	return starting(list, begun), cobra.ShellCompDirectiveDefault
}

// resultsWith lists the usual directory's results that have a file of some names.
func resultsWith(files ...string) (list []string) {
	for _, file := range files {
		found, _ := filepath.Glob(filepath.Join(resultsDir, "*", file))
		for _, path := range found {
			list = append(list, filepath.Dir(path))
		}
	}
	return list
}

// first is a completer for the first argument alone.
func first(complete completer) completer {
	return func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(c, args, begun)
	}
}

// starting returns the names that begin with some text.
func starting(names []string, begun string) (list []cobra.Completion) {
	for _, name := range names {
		if strings.HasPrefix(name, begun) {
			list = append(list, name)
		}
	}
	return list
}

// completeFlag completes a flag's value.
func completeFlag(c *cobra.Command, flag string, complete completer) {
	if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // there is no such flag, or it has a completer already
	}
}
