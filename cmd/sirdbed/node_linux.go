//go:build !portable

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sirdbed/baselines/all"
	"sirdbed/scenarios"
	"sirdbed/sirdnode/endpoint"
	"sirdbed/sirdnode/endpoint/session"
	"sirdbed/sirdnode/sird"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

func newNode() *cobra.Command {
	c := &cobra.Command{
		Use:   "node",
		Short: "Run one end of a transport on an interface of this machine, without a fabric",
		Long: text(`
			Run one end of a transport on an interface of this machine: the code that hosts of a fabric run, between
			any two machines, or network namespaces, that reach one another by IPv4. One end serves, others send to it,
			ping it, or fill the link.

			Time is the machine's own, and so are routes and neighbors: frames go to the next hop that the kernel has
			for a peer. The link's rate is what its driver reports, or --rate. Both ends must be the same build of
			sirdbed. They agree over a TCP connection to port ` + fmt.Sprint(session.Port) + ` of the serving end, which
			states the parameters. Credit loops are measured first: a minimal packet there, a full one back. They set
			the parameters' defaults.

			This needs raw sockets: root or CAP_NET_RAW. The kernel answers none of the packets: sirdbed has a socket on
			their UDP port.`),
		Example: examples(`
			sudo sirdbed node serve                          on one machine
			sudo sirdbed node ping 10.0.0.2                  on another: latencies, and the BDP
			sudo sirdbed node blast 10.0.0.2 --for 5s        throughput
			sudo sirdbed node send 10.0.0.2 --size 1MB --count 100`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newNodeServe(), newNodeSend(), newNodePing(), newNodeBlast(), newNodeJoin())
	return c
}

// nodeOptions are the flags that all of node's commands have.
type nodeOptions struct {
	protocol, iface, rate, mtu string
	set                        []string
	json                       bool
}

func (o *nodeOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.protocol, "protocol", sird.Protocol.Name, "speak the transport `NAME`")
	f.StringVar(&o.iface, "interface", "", "use the interface `NAME` (default: that of the route)")
	f.StringVar(&o.rate, "rate", "", "take `RATE` for that of the link (default: what its driver says, or 1Gbps)")
	f.StringVar(&o.mtu, "mtu", "", "send packets of up to `BYTES` (default: the interface's MTU)")
	f.StringArrayVar(&o.set, "set", nil, "set a parameter of the protocol: `NAME=VALUE`, such as sird.bdp=20KB")
	f.BoolVar(&o.json, "json", false, "print the summary as JSON to stdout, and all else to stderr")
	completeFlag(c, "protocol", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return transports(), cobra.ShellCompDirectiveNoFileComp
	})
	for _, name := range []string{"interface", "rate", "mtu", "set"} {
		completeFlag(c, name, noFiles)
	}
}

// transports lists the protocols that can do without a fabric.
func transports() (names []string) {
	for _, p := range all.List() {
		if endpoint.Suits(&p) == nil {
			names = append(names, p.Name)
		}
	}
	return names
}

// config works out what the flags say. Errors are bad input.
func (o *nodeOptions) config() (c endpoint.Config, err error) {
	c = endpoint.Config{Interface: o.iface, Build: buildVersion().String()}
	if c.Protocol, err = all.Find(o.protocol); err != nil {
		return c, badInput(fmt.Errorf("%w%s", err, scenarios.DidYouMean(o.protocol, transports())))
	}
	if err := endpoint.Suits(&c.Protocol); err != nil {
		return c, badInput(err)
	}
	if o.rate != "" {
		if c.Rate, err = units.ParseRate(o.rate); err != nil {
			return c, badInput(fmt.Errorf("--rate: %w", err))
		}
		if c.Rate < limit.MinRate || c.Rate > limit.MaxRate {
			return c, badInput(fmt.Errorf("--rate is %v: want %v to %v", c.Rate, limit.MinRate, limit.MaxRate))
		}
	}
	if o.mtu != "" {
		if c.MTU, err = byteFlag("mtu", o.mtu, 256, limit.MaxMTU); err != nil {
			return c, err
		}
	}
	c.Params, err = paramsOf(o.protocol, o.set)
	return c, badInput(err)
}

// byteFlag reads a flag of bytes, with a unit or without.
func byteFlag(flag, value string, least, most units.Bytes) (units.Bytes, error) {
	if strings.Trim(value, "0123456789") == "" {
		value += "B"
	}
	n, err := units.ParseBytes(value)
	if err == nil && (n < least || n > most) {
		err = fmt.Errorf("%v: want %v to %v", n, least, most)
	}
	if err != nil {
		return 0, badInput(fmt.Errorf("--%s: %w", flag, err))
	}
	return n, nil
}

// paramsOf makes a protocol's parameters of --set.
func paramsOf(protocol string, set []string) (json.RawMessage, error) {
	if len(set) == 0 {
		return nil, nil
	}
	params := map[string]json.RawMessage{}
	for _, text := range set {
		change, err := scenarios.ParseChange(text)
		if err != nil {
			return nil, err
		}
		of, name, ok := strings.Cut(change.Path, ".")
		if !ok || of != protocol {
			return nil, fmt.Errorf("--set %s: want a parameter of %s, such as %s.NAME=VALUE", text, protocol, protocol)
		}
		value := json.RawMessage(change.Value)
		if !json.Valid(value) {
			if value, err = json.Marshal(change.Value); err != nil {
				return nil, err
			}
		}
		params[name] = value
	}
	return json.Marshal(params)
}

// peersOf reads the addresses of peers.
func peersOf(args []string) (list []netip.Addr, err error) {
	for _, a := range args {
		addr, err := netip.ParseAddr(a)
		if err != nil || !addr.Is4() {
			return nil, badInput(fmt.Errorf("%q is no IPv4 address: peers are named by theirs", a))
		}
		if slices.Contains(list, addr) {
			return nil, badInput(fmt.Errorf("%v is given twice", addr))
		}
		list = append(list, addr)
	}
	return list, nil
}

// nodeError adds what to do about an error that the command line knows more of.
func nodeError(err error) error {
	if !errors.Is(err, endpoint.ErrNoRights) {
		return err
	}
	program, failed := os.Executable()
	if failed != nil {
		program = "sirdbed"
	}
	return fmt.Errorf("%w: run it with sudo, or once: sudo setcap cap_net_raw+ep %s", err, program)
}

// spareThreads lets the Go scheduler run besides the threads that wait for packets, each
// of which keeps a processor of its.
func spareThreads() { runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0))) }
