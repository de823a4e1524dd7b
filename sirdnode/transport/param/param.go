// Package param checks the parameters of protocols, and has the defaults that
// several of them share.
package param

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// Reasons for limits that several protocols have.
const (
	WhyTimeout  = "with less packets are taken for lost that are on their way, and no run is longer"
	WhyAttempts = "a peer that answers none of them is dead"
	WhyMark     = "the kernel's queues count bytes in 32 bits"
)

// InRange returns an error that names the parameter unless v is from lo to hi,
// both included. NaN is not.
func InRange[T cmp.Ordered](name string, v, lo, hi T) error {
	if !(v >= lo && v <= hi) {
		return fmt.Errorf("%s is %v: want %v to %v", name, v, lo, hi)
	}
	return nil
}

// OneOf returns an error that names the parameter unless value is allowed.
func OneOf(name, value string, allowed ...string) error {
	if !slices.Contains(allowed, value) {
		return fmt.Errorf("%s is %q: want one of %q", name, value, allowed)
	}
	return nil
}

// EvaluatedBDP returns the bandwidth-delay product of SIRD's evaluation in wire
// bytes (100 KB for hosts at 100 Gbps, in proportion for others), or the fabric's
// own if that is larger. Default windows and thresholds derive from it.
func EvaluatedBDP(f *topo.Fabric) transport.Bytes {
	bdp := transport.Bytes(float64(100*units.Kilobyte) * float64(f.Spec.HostRate) / float64(100*units.Gbps))
	return max(bdp, f.BDP())
}

// timeoutLoops is after how many of the slowest credit loops a packet is lost.
const timeoutLoops = 8

// Timeout returns a default time-out: otherwise, unless round trips take so long on the
// machine that carries the fabric that packets on their way would be taken for lost.
func Timeout(f *topo.Fabric, otherwise transport.Time) transport.Time {
	return max(otherwise, timeoutLoops*f.Loop().Tail)
}

// EvaluatedMark returns the ECN threshold of switch ports in the paper's
// evaluation: 1.25 times EvaluatedBDP.
func EvaluatedMark(f *topo.Fabric) transport.Bytes {
	return transport.Bytes(math.Round(1.25 * float64(EvaluatedBDP(f))))
}
