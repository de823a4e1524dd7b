//go:build !portable

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"sirdbed/sirdnode/endpoint"
)

func newNodeJoin() *cobra.Command {
	var host, iface, token string
	c := &cobra.Command{
		Use:   "join ADDRESS",
		Short: "Be the peer of a device: run a host of a fabric at the other end of its cable",
		Long: text(`
			Join a run that waits at an address (sirdbed run --join-listen), as one of its hosts that are devices with
			join: true. The other end of that device's cable is an interface of this machine.

			Over a TCP connection outside the fabric, the run sends topology, streams, parameters, seed and start,
			receives the host's log and counts, and sets the host's clock: better use another network than the one that
			is measured. The run ends if the connection does. Both ends must be the same program and have the same
			token, which is not sent.

			The interface must be up, with at least the fabric's MTU. It needs no address: the kernel here does not know
			the host's, and drops what comes for it. This needs raw sockets: root or CAP_NET_RAW.

			Exit codes: 0 the run is over, 1 failed, 2 bad input, 130 interrupted.`),
		Example: examples(`
			sudo sirdbed run my.yaml --join-listen 192.0.2.1                  on one machine, which prints a token
			sudo sirdbed node join 192.0.2.1 --interface eth1 --token TOKEN   on the other
			sudo sirdbed node join 192.0.2.1:5000 --interface eth2 --host h1-4 --token TOKEN`),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			address, err := joinAddress(args[0])
			if err != nil {
				return badInput(err)
			}
			if iface == "" {
				return badInput(errors.New("--interface: missing: the one at the other end of the device's cable"))
			}
			if token, err = tokenOf(token); err != nil {
				return err
			}
			return joinRun(c, endpoint.JoinConfig{Address: address, Token: token, Host: host, Interface: iface})
		},
	}
	f := c.Flags()
	f.StringVar(&iface, "interface", "", "use the interface `NAME`, at the other end of the device's cable")
	f.StringVar(&host, "host", "", "be the host `NAME` (default: the only one that is to join)")
	f.StringVar(&token, "token", "", "prove to have `TOKEN`, that of the run (default: $"+joinTokenVar+")")
	for _, name := range []string{"interface", "host", "token"} {
		completeFlag(c, name, noFiles)
	}
	return c
}

func joinRun(c *cobra.Command, config endpoint.JoinConfig) (err error) {
	if config.Build, err = thisBuild(); err != nil {
		return err
	}
	config.Command = hostCommand
	page := newNodePage(c, false)
	config.Joined = func(host string) {
		page.print(fmt.Sprintf("%s of the run at %s, on %s", host, config.Address, config.Interface))
	}
	config.Runs = func(begins bool) {
		if begins {
			page.print("it runs")
		} else {
			page.print("it has ended")
		}
	}
	err = endpoint.Join(c.Context(), config)
	page.close()
	switch {
	case err != nil && c.Context().Err() != nil:
		return &codedError{exitStopped, errReported}
	case err == nil:
		fmt.Fprintln(c.OutOrStdout(), "the run is over")
	}
	return nodeError(err)
}
