//go:build !portable

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func newClean() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "clean",
		Short: "Remove what killed runs have left behind",
		Long: text(`
			Remove the state files of runs that were killed, and list the runs in progress.

			A killed run leaves no namespace, interface or process: namespaces have no names and go with the last
			process in them, and no host process outlives its controller. So state files are all there is to clean.
			Results are kept: sirdbed report computes what can be computed from a killed run's logs.`),
		Example: examples(`
			sirdbed clean
			sirdbed clean --json`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			live, dead, err := states()
			if err != nil {
				return err
			}
			for _, s := range dead {
				if err := os.Remove(s.path); err != nil && !os.IsNotExist(err) {
					return err
				}
			}
			out := c.OutOrStdout()
			if asJSON {
				return printJSON(out, map[string][]string{"running": runNames(live), "removed": runNames(dead)})
			}
			for _, s := range dead {
				fmt.Fprintf(out, "removed the state of %s, which was killed\n", s.Run)
			}
			for _, s := range live {
				fmt.Fprintf(out, "running: %s (%d hosts, sirdbed exec --run %s HOST)\n", s.Run, len(s.Hosts), s.Run)
			}
			if len(live)+len(dead) == 0 {
				fmt.Fprintln(out, "nothing to clean, and no fabric is up")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func runNames(list []State) []string {
	names := []string{}
	for _, s := range list {
		names = append(names, s.Run)
	}
	return names
}
