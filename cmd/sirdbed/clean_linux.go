//go:build !portable

package main

import (
	"fmt"
	"io"

	"sirdbed/capture/report"
	"sirdbed/emu/virtual/guest"

	"github.com/spf13/cobra"
)

func newClean() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "clean",
		Short: "Remove what killed runs left behind",
		Long: text(`
			Remove the state files of killed runs and the directories of killed guests and of killed sweeps' points,
			restore devices that killed runs had taken, and list the runs in progress.

			A killed run leaves no namespace, interface or process: namespaces have no names and go with the last
			process in them, and no host process outlives its controller. So only some small files are left to remove.
			Results are kept: sirdbed report computes what can be computed from a killed run's logs.`),
		Example: examples(`
			sirdbed clean
			sirdbed clean --json`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := states()
			if err != nil {
				return err
			}
			list.warn(c.ErrOrStderr())
			guests := append([]string{}, guest.Sweep()...)
			points := append([]string{}, sweepScratch()...)
			devices, err := restoreDevices(0)
			if err != nil {
				return err
			}
			if err := warnOfDevicesElsewhere(c.ErrOrStderr()); err != nil {
				return err
			}
			removed, err := list.removeDead()
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			if asJSON {
				return printJSON(out, map[string][]string{
					"running": runNames(list.live), "removed": removed, "guests": guests,
					"points": points, "devices": append([]string{}, devices...)})
			}
			for _, run := range removed {
				fmt.Fprintf(out, "removed the state of %s, which was killed\n", run)
			}
			for _, path := range guests {
				fmt.Fprintf(out, "removed the directory of a guest that was killed, %s\n", path)
			}
			for _, path := range points {
				fmt.Fprintf(out, "removed the directory of a sweep's point that was killed, %s\n", path)
			}
			for _, name := range devices {
				fmt.Fprintf(out, "%s, a device that a killed run had taken, is what it was\n", report.Printable(name))
			}
			for _, s := range list.live {
				fmt.Fprintf(out, "running: %s (%d hosts, results in %s, sirdbed exec --run %s HOST)\n",
					s.Run, len(s.Hosts), report.Printable(s.Results), s.Run)
			}
			if len(list.live)+len(removed)+len(guests)+len(points)+len(devices) == 0 {
				fmt.Fprintln(out, "nothing to clean, and no fabric is up")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// removeDead removes what killed runs have left, and returns the names of those runs.
func (l *stateList) removeDead() (runs []string, err error) {
	runs = []string{}
	for _, s := range l.dead {
		removed, err := removeDead(s.Run + stateSuffix)
		if err != nil {
			return runs, fmt.Errorf("state of %s: %w", s.Run, err)
		}
		if removed {
			runs = append(runs, s.Run)
		}
	}
	for _, name := range l.drafts {
		if _, err := removeDead(name); err != nil {
			return runs, fmt.Errorf("draft of a state: %w", err)
		}
	}
	return runs, nil
}

// warn names the states that could not be read.
func (l *stateList) warn(w io.Writer) {
	for _, err := range l.unread {
		fmt.Fprintf(w, "warning: %v\n", err)
	}
}

func runNames(list []State) []string {
	names := []string{}
	for _, s := range list {
		names = append(names, s.Run)
	}
	return names
}
