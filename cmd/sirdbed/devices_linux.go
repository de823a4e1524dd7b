//go:build !portable

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"sirdbed/capture/report"
	"sirdbed/emu/fabric/device"
)

func newDevices() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "devices",
		Short: "List the interfaces of this machine that can be hosts, and why others cannot",
		Long: text(`
			List the interfaces of this machine, and which of them can be hosts of a fabric: a network card, one of its
			virtual functions, a tap, an end of a veth pair. A scenario names one like this:

			    hosts:
			      - {name: h1-2, device: enp3s0f1}

			It then is the port of h1-2 on its leaf, and the hardware at the other end of its cable takes part: sirdbed
			topo prints what is to be configured there. This needs root, the engine real and dilation 1.

			What the machine itself uses, for a route or by an address, is taken only with "force: true". Devices are
			restored however a run ends; if nothing is left of the run to do that, sirdbed clean does.`),
		Example: examples(`
			sirdbed devices
			sirdbed devices --json`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := surveyDevices()
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), list)
			}
			return printDeviceList(c.OutOrStdout(), list)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// surveyDevices lists the interfaces of the machine.
func surveyDevices() ([]device.Candidate, error) {
	dir, err := openRuntimeDir()
	if errors.Is(err, os.ErrNotExist) {
		dir, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	if dir != nil {
		defer dir.Close()
	}
	list, err := device.Journal{Dir: dir}.Survey()
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	return list, nil
}

func printDeviceList(w io.Writer, list []device.Candidate) error {
	t := newTable(w, "device", "kind", "address", "MTU", "state", "can be a host")
	for i := range list {
		d := &list[i]
		kind, state := d.Kind, "down"
		if kind == "" && d.Flags&unix.IFF_LOOPBACK != 0 {
			kind = "loopback"
		} else if kind == "" {
			kind = "hardware"
		}
		if d.Up() {
			state = "up"
		}
		t.row(report.Printable(d.Name), kind, d.MAC.String(), fmt.Sprint(d.MTU), state, canBeHost(d))
	}
	return t.render()
}

// canBeHost says whether an interface can be a host, and why not.
func canBeHost(d *device.Candidate) string {
	if len(d.Against) == 0 {
		return "yes"
	}
	answer := "with force: true"
	var why []string
	for _, r := range d.Against {
		if r.Never {
			answer = "no"
		}
		why = append(why, r.Text)
	}
	return answer + ": " + strings.Join(why, ", ")
}
