//go:build linux

package endpoint

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"

	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/endpoint/join"
	"sirdbed/sirdnode/endpoint/nexthop"
)

// JoinConfig describes the peer of a device host.
type JoinConfig struct {
	Address   string // of the run, with a port
	Token     string
	Host      string // "": the only one that is to join
	Interface string // at the other end of the device's cable
	Build     join.Build
	Command   []string // starts a host process: see node.Main

	// Joined, if it is not nil, is told as which host it takes part, and Runs of each host
	// process that has started (true) and ended (false). They must not block.
	Joined func(host string)
	Runs   func(begins bool)
}

// Join joins a run as the peer of a device host, and runs that host whenever the run asks
// for it, until the run lets it go, or ctx is done.
func Join(ctx context.Context, c JoinConfig) error {
	if err := mayOpenRaw(); err != nil {
		return err
	}
	link, err := nexthop.Cable(c.Interface)
	if err != nil {
		return err
	}
	if forwards(link.Name) {
		return fmt.Errorf("the kernel forwards what arrives on %s, and would send the run's packets on: "+
			"sysctl net.ipv4.conf.%s.forwarding=0", link.Name, link.Name)
	}
	seat, err := join.Enter(ctx, c.Address, c.Token, join.About{
		Build: c.Build, Host: c.Host, Interface: link.Name, MAC: link.MAC, MTU: link.MTU, Policies: policies(),
	})
	if err != nil {
		return err
	}
	if c.Joined != nil {
		c.Joined(seat.Host)
	}
	return seat.Serve(ctx, c.Command, c.Runs)
}

// forwards reports whether this machine's kernel routes what arrives on an interface.
func forwards(iface string) bool {
	text, err := os.ReadFile("/proc/sys/net/ipv4/conf/" + iface + "/forwarding")
	return err == nil && string(bytes.TrimSpace(text)) != "0"
}

// policies lists those that a host may have here.
func policies() (list []clock.Policy) {
	for _, p := range []clock.Policy{clock.ShortSlice, clock.RealTime} {
		failed := make(chan error)
		go func() { // exits locked: its thread is not used again
			runtime.LockOSThread()
			failed <- clock.SetPolicy(p)
		}()
		if <-failed == nil {
			list = append(list, p)
		}
	}
	return list
}
