package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sirdbed/capture/metric"
	"sirdbed/capture/verdict"
	"sirdbed/scenarios"
)

func newExplain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CHECK | METRIC]",
		Short: "Explain a check of the verdict, or a metric of bounds",
		Long: text(`
			Print the page on a check of the verdict (what it asks, how that is answered, when a run is DEGRADED or
			INVALID and why, and what to do) or on a metric of bounds (what it is, and which fields and statistics it
			takes). Without a name, list them all.`),
		Example: examples(`
			sirdbed explain                     all checks and metrics
			sirdbed explain wake-up lateness    a check, as a verdict names it
			sirdbed explain queue_bytes         a metric, as a scenario file names it`),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				listExplained(c.OutOrStdout())
				return nil
			}
			page := explained(strings.Join(args, " "))
			if page == nil {
				name := strings.Join(args, " ")
				return badInput(fmt.Errorf("no check or metric is called %q (sirdbed explain lists them)%s",
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
	return nil
}

// explainedNames lists what has a page.
func explainedNames() (names []string) {
	for _, c := range verdict.Checks() {
		names = append(names, c.Name)
	}
	for _, d := range metric.Descriptors() {
		names = append(names, d.Name)
	}
	return names
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
}
