//go:build linux

package guest

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// A guest is one tracer and the processes that it traces, of which one at a time
// runs. On one processor they hand over without waking another up, which halves
// the cost of a system call; so each guest is pinned, to a processor that no other
// guest of this machine has, where there is one.

// A cpuClaim is the processor that a guest is pinned to.
type cpuClaim struct {
	cpu    int // -1: none
	socket net.Listener
}

// claimCPU takes the first processor that is not another guest's. The claim is
// a socket in the abstract name space: it leaves no file, and ends with the
// process.
func claimCPU() *cpuClaim {
	claims, last := claimCPUs(1)
	if len(claims) == 1 {
		return claims[0]
	}
	return &cpuClaim{cpu: last} // all taken: share the last
}

// claimCPUs takes up to so many processors that are not other guests'. last is the last one
// that this process may run on, -1 if that is not known.
func claimCPUs(most int) (claims []*cpuClaim, last int) {
	var allowed unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil {
		return nil, -1
	}
	last = -1
	for cpu, left := 0, allowed.Count(); left > 0 && cpu < 1024 && len(claims) < most; cpu++ {
		if !allowed.IsSet(cpu) {
			continue
		}
		left--
		socket, err := net.Listen("unix", fmt.Sprintf("@sirdbed-virtual-cpu-%d", cpu))
		if err == nil {
			claims = append(claims, &cpuClaim{cpu, socket})
		}
		last = cpu
	}
	return claims, last
}

// claim returns the processor that a guest is to have.
func claim(c *Config) *cpuClaim {
	if c.Claims != nil {
		return c.Claims.of(c.Number)
	}
	return claimCPU()
}

// Claims are the processors of guests that share a clock. They wait for one another, so that
// one without a processor of its own would hold up all: each has one, or none is pinned.
type Claims struct{ list []*cpuClaim }

// ClaimProcessors takes a processor for each of so many guests, until Release.
func ClaimProcessors(guests int) *Claims {
	claims, _ := claimCPUs(guests)
	c := &Claims{claims}
	if len(claims) < guests {
		c.Release()
	}
	return c
}

// Pinned reports whether the guests have processors.
func (c *Claims) Pinned() bool { return len(c.list) > 0 }

// Release gives the processors back.
func (c *Claims) Release() {
	for _, claim := range c.list {
		claim.release()
	}
	c.list = nil
}

// of returns a guest's processor, for as long as the claims are not released.
func (c *Claims) of(guest int) *cpuClaim {
	if !c.Pinned() {
		return &cpuClaim{cpu: -1}
	}
	return &cpuClaim{cpu: c.list[guest].cpu}
}

// pin ties a process that has just been started to the processor.
func (c *cpuClaim) pin(pid int) {
	if c.cpu < 0 {
		return
	}
	var one unix.CPUSet
	one.Set(c.cpu)
	_ = unix.SchedSetaffinity(pid, &one) // slower without
}

func (c *cpuClaim) release() {
	if c.socket != nil {
		c.socket.Close()
	}
}
