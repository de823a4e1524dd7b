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
	c := &cpuClaim{cpu: -1}
	var allowed unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil {
		return c
	}
	for cpu, left := 0, allowed.Count(); left > 0 && cpu < 1024; cpu++ {
		if !allowed.IsSet(cpu) {
			continue
		}
		left--
		socket, err := net.Listen("unix", fmt.Sprintf("@sirdbed-virtual-cpu-%d", cpu))
		if err == nil {
			return &cpuClaim{cpu, socket}
		}
		c.cpu = cpu // all taken: share the last
	}
	return c
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
