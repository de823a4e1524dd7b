//go:build !portable

package main

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/spf13/cobra"

	"sirdbed/sirdnode/endpoint"
)

func newNodeServe() *cobra.Command {
	var o nodeOptions
	c := &cobra.Command{
		Use:   "serve",
		Short: "Receive messages from peers, check their payload, answer pings",
		Long: text(`
			Receive messages from whoever sends, pings or blasts to this machine, check every byte of their payload, and
			answer those that ask for it, until an interrupt. Peers come and go; a line each second has what all of them
			sent.

			This end states the parameters, since all peers share its link. They follow from the credit loop that the
			first peer measures, unless --set gives others, and apply until nobody is connected any more.`),
		Example: examples(`
			sudo sirdbed node serve
			sudo sirdbed node serve --interface eth1 --rate 10Gbps --set sird.bdp=100KB
			sudo sirdbed node serve --protocol homa --json`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return serveNode(c, &o) },
	}
	o.flags(c)
	return c
}

func serveNode(c *cobra.Command, o *nodeOptions) error {
	config, err := o.config()
	if err != nil {
		return err
	}
	spareThreads()
	page := newNodePage(c, o.json)
	page.tell(&config, func(s endpoint.Second) string {
		line := fmt.Sprintf("%s  %-11s  %s from %s", clockOf(s.At), gbps(endpoint.Goodput(s.Received, s.Span)),
			count(int(s.Delivered), "message"), count(s.Peers, "peer"))
		if s.Mismatches > 0 {
			line += fmt.Sprintf("  DAMAGED payload in %s", count(int(s.Mismatches), "packet"))
		}
		return line
	})
	served, err := endpoint.Serve(c.Context(), endpoint.ServeConfig{
		Config: config,
		Came:   func(a netip.Addr) { page.print(came(a)) },
		Left:   func(v endpoint.Visit) { page.print(left(v)) },
	})
	page.close()
	if served.Protocol == "" {
		return nodeError(err)
	}
	if o.json {
		return errors.Join(err, printJSON(c.OutOrStdout(), served))
	}
	t := &served.Totals
	fmt.Fprintf(c.OutOrStdout(), "\n%s on %s: %s, %s from %s; payload damaged in %d packets, %d packets dropped\n",
		served.Protocol, served.Interface, count(int(t.Delivered), "message"), humanSize(t.Received),
		count(len(served.Visits), "visit"), t.Mismatches, t.NIC.Drops)
	return err
}
