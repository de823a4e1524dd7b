package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sirdbed/capture/metric"
	"sirdbed/capture/verdict"
	"sirdbed/scenarios"
	"sirdbed/sirdnode/fault"
)

func newExplain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CHECK | METRIC | FAULT]",
		Short: "Explain a check of the verdict, a metric of bounds, or faults",
		Long: text(`
			Print the page on a check of the verdict (what it asks, how that is answered, when a run is DEGRADED or
			INVALID and why, and what to do), on a metric of bounds (what it is, and which fields and statistics it
			takes), or on what can go wrong in a scenario (faults, or one of them). Without a name, list them all.`),
		Example: examples(`
			sirdbed explain                     all checks, metrics and faults
			sirdbed explain wake-up lateness    a check, as a verdict names it
			sirdbed explain queue_bytes         a metric, as a scenario file names it
			sirdbed explain faults              what can go wrong, and how a scenario says so
			sirdbed explain kill                one of these faults`),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				listExplained(c.OutOrStdout())
				return nil
			}
			page := explained(strings.Join(args, " "))
			if page == nil {
				name := strings.Join(args, " ")
				return badInput(fmt.Errorf("no check, metric or fault is called %q (sirdbed explain lists them)%s",
					name, scenarios.DidYouMean(name, explainedNames())))
			}
			for _, paragraph := range page {
				wrapped(c.OutOrStdout(), "", "", paragraph)
			}
			return nil
		},
	}
}

// plainName is a name without case, and with every separator the same.
func plainName(name string) string {
	return strings.NewReplacer("-", " ", "_", " ").Replace(strings.ToLower(name))
}

// explained is the page of a name, nil if there is none.
func explained(name string) []string {
	for _, c := range verdict.Checks() {
		if plainName(c.Name) == plainName(name) {
			return c.Page()
		}
	}
	for _, d := range metric.Descriptors() {
		if plainName(d.Name) == plainName(name) {
			return d.Page()
		}
	}
	for _, k := range fault.Kinds {
		if plainName(string(k)) == plainName(name) {
			return k.Page()
		}
	}
	if plainName(name) == faultsName {
		return fault.Page()
	}
	return nil
}

// faultsName is the page on faults, as scenarios call them.
const faultsName = "faults"

// explainedNames lists what has a page.
func explainedNames() (names []string) {
	for _, c := range verdict.Checks() {
		names = append(names, c.Name)
	}
	for _, d := range metric.Descriptors() {
		names = append(names, d.Name)
	}
	for _, k := range fault.Kinds {
		names = append(names, string(k))
	}
	return append(names, faultsName)
}

func listExplained(w io.Writer) {
	const column = 22
	item := func(name, text string) {
		wrapped(w, fmt.Sprintf("  %-*s", column-2, name), strings.Repeat(" ", column), text)
	}
	fmt.Fprintln(w, "Checks of the verdict:")
	for _, c := range verdict.Checks() {
		item(c.Name, c.Asks)
	}
	fmt.Fprintln(w, "\nMetrics of bounds:")
	for _, d := range metric.Descriptors() {
		item(d.Name, d.Doc)
	}
	fmt.Fprintln(w, "\nFaults:")
	item(faultsName, fault.Doc)
	for _, k := range fault.Kinds {
		item(string(k), k.Doc())
	}
}
