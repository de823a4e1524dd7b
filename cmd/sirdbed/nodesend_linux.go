//go:build !portable

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sirdbed/sirdnode/endpoint"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// A nodeLoad is the flags of a load.
type nodeLoad struct {
	nodeOptions
	kind              string
	size, offer       string
	count             int64
	outstanding       int
	interval, forTime time.Duration
	answered          bool
}

func newNodeSend() *cobra.Command {
	o := &nodeLoad{kind: "send"}
	c := &cobra.Command{
		Use:   "send PEER...",
		Short: "Send messages to peers that serve, and measure how long they take",
		Long: text(`
			Send messages of one size to peers that run sirdbed node serve, in turn. Up to --outstanding are under way
			to each peer at once; with --offer they come at that rate of payload instead, whatever becomes of them.
			Latency ends when this end knows that the message is delivered.

			A line each second reports what got through. Exit codes: 0 fine, 1 failed, 2 bad input, 130 interrupted. A
			message that was given up, or a payload other than what was sent, is a failure.`),
		Example: examples(`
			sudo sirdbed node send 10.0.0.2
			sudo sirdbed node send 10.0.0.2 10.0.0.3 --size 10KB --count 100000 --outstanding 8
			sudo sirdbed node send 10.0.0.2 --protocol homa --size 100KB --offer 400Mbps --for 10s --json`),
		Args: cobra.MinimumNArgs(1),
		RunE: o.run,
	}
	o.flags(c)
	f := c.Flags()
	f.StringVar(&o.size, "size", "100KB", "send messages of `BYTES`")
	f.Int64Var(&o.count, "count", 1000, "send `N` messages, 0: until --for or an interrupt")
	f.IntVar(&o.outstanding, "outstanding", 1, "keep `N` messages to each peer under way")
	f.StringVar(&o.offer, "offer", "", "let messages come at `RATE` of payload, whatever becomes of them")
	f.DurationVar(&o.forTime, "for", 0, "send for `TIME` at most (default: no limit)")
	for _, name := range []string{"size", "offer", "for", "count", "outstanding"} {
		completeFlag(c, name, noFiles)
	}
	return c
}

func newNodePing() *cobra.Command {
	o := &nodeLoad{kind: "ping", size: "8B", outstanding: 1, answered: true}
	c := &cobra.Command{
		Use:   "ping PEER...",
		Short: "Measure round trips of 8 bytes to peers that serve, and the BDP",
		Long: text(`
			Send messages of 8 bytes to peers that run sirdbed node serve, which answer each with one of 8 bytes, and
			print how long that takes.

			The credit loop is measured first: a minimal packet there, a full one back, like credit and data. That times
			the link's rate is the bandwidth-delay product. The summary has the value to give as --set sird.bdp at the
			serving end.`),
		Example: examples(`
			sudo sirdbed node ping 10.0.0.2
			sudo sirdbed node ping 10.0.0.2 --count 10000 --interval 0s
			sudo sirdbed node ping 10.0.0.2 --protocol dctcp --json`),
		Args: cobra.MinimumNArgs(1),
		RunE: o.run,
	}
	o.flags(c)
	f := c.Flags()
	f.Int64Var(&o.count, "count", 3000, "send `N` messages, 0: until --for or an interrupt")
	f.DurationVar(&o.interval, "interval", time.Millisecond, "wait for `TIME` from one to the next")
	f.DurationVar(&o.forTime, "for", 0, "send for `TIME` at most (default: no limit)")
	for _, name := range []string{"interval", "for", "count"} {
		completeFlag(c, name, noFiles)
	}
	return c
}

func newNodeBlast() *cobra.Command {
	o := &nodeLoad{kind: "blast"}
	c := &cobra.Command{
		Use:   "blast PEER...",
		Short: "Send to peers that serve, as fast as possible, and measure goodput",
		Long: text(`
			Send messages back to back to peers that run sirdbed node serve, and print goodput, each second and overall:
			payload of messages that are known to be delivered.`),
		Example: examples(`
			sudo sirdbed node blast 10.0.0.2
			sudo sirdbed node blast 10.0.0.2 10.0.0.3 --for 30s --size 10MB
			sudo sirdbed node blast 10.0.0.2 --protocol swift --rate 10Gbps --json`),
		Args: cobra.MinimumNArgs(1),
		RunE: o.run,
	}
	o.flags(c)
	f := c.Flags()
	f.StringVar(&o.size, "size", "1MB", "send messages of `BYTES`")
	f.IntVar(&o.outstanding, "outstanding", 4, "keep `N` messages to each peer under way")
	f.DurationVar(&o.forTime, "for", 10*time.Second, "send for `TIME`, 0s: until an interrupt")
	for _, name := range []string{"size", "for", "outstanding"} {
		completeFlag(c, name, noFiles)
	}
	return c
}

// mostOutstanding bounds what is kept of messages under way.
const mostOutstanding = 10_000

// load works out what the flags say. Errors are bad input.
func (o *nodeLoad) load() (l endpoint.Load, err error) {
	l = endpoint.Load{
		Answered: o.answered, Count: o.count, Outstanding: o.outstanding,
		Gap: units.Time(o.interval), For: units.Time(o.forTime),
	}
	if l.Size, err = byteFlag("size", o.size, 1, limit.MaxMessage); err != nil {
		return l, err
	}
	switch {
	case o.count < 0, o.interval < 0, o.forTime < 0:
		return l, badInput(errors.New("--count, --interval and --for are not negative"))
	case o.outstanding < 1 || o.outstanding > mostOutstanding:
		return l, badInput(fmt.Errorf("--outstanding is %d: want 1 to %d", o.outstanding, mostOutstanding))
	}
	if o.offer == "" {
		return l, nil
	}
	rate, err := units.ParseRate(o.offer)
	if err == nil && (rate < 1 || rate > limit.MaxRate) {
		err = fmt.Errorf("%v: want 1bps to %v", rate, limit.MaxRate)
	}
	if err != nil {
		return l, badInput(fmt.Errorf("--offer: %w", err))
	}
	l.Outstanding, l.Gap = 0, max(1, rate.TimeFor(l.Size))
	return l, nil
}

func (o *nodeLoad) run(c *cobra.Command, args []string) error {
	to, err := peersOf(args)
	if err != nil {
		return err
	}
	config, err := o.config()
	if err != nil {
		return err
	}
	load, err := o.load()
	if err != nil {
		return err
	}
	spareThreads()
	page := newNodePage(c, o.json)
	page.tell(&config, func(s endpoint.Second) string { return o.second(&s) })
	report, err := endpoint.Send(c.Context(), config, load, to)
	page.close()
	if report.Protocol == "" {
		return nodeError(err)
	}
	if o.json {
		err = errors.Join(err, printJSON(c.OutOrStdout(), report))
	} else {
		o.summary(c.OutOrStdout(), &report)
	}
	return errors.Join(err, o.outcome(c.Context(), &report))
}

// outcome is the error of a run that has come to its end, nil if all is well.
func (o *nodeLoad) outcome(ctx context.Context, r *endpoint.Report) error {
	switch n := r.DamagedPayload(); {
	case n > 0:
		return fmt.Errorf("%s had a payload that is not what was sent", count(int(n), "packet"))
	case r.Totals.Failed > 0:
		return fmt.Errorf("%s failed", count(int(r.Totals.Failed), "message"))
	case ctx.Err() != nil:
		return &codedError{exitStopped, errReported}
	}
	return nil
}
