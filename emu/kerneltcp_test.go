package emu

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"sirdbed/sirdnode/fault"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// The least dilation at which rounding a full packet's time to whole ns is no
// more than 0.1 % of it, and never more than TCP's timers stand.
func TestKernelDilation(t *testing.T) {
	for _, c := range []struct {
		host, core units.BitsPerSecond
		mtu        units.Bytes
		want       units.Dilation
	}{
		{10 * units.Gbps, 0, 1500, 1}, {100 * units.Gbps, 0, 9000, 2}, {100 * units.Gbps, 0, 1500, 9},
		{100 * units.Gbps, 400 * units.Gbps, 1500, 10}, {100 * units.Gbps, 400 * units.Gbps, 9000, 6},
	} {
		t.Run(fmt.Sprintf("%v core %v MTU %v", c.host, c.core, c.mtu), func(t *testing.T) {
			spec := topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: c.host, HostDelay: 1000, MTU: c.mtu}
			if c.core > 0 {
				spec.Leaves, spec.Spines, spec.CoreRate, spec.CoreDelay = 2, 1, c.core, 1000
			}
			f, err := topo.New(spec)
			if err != nil {
				t.Fatal(err)
			}
			if got := KernelTCPDilation(f); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestUnsuitedExperiments(t *testing.T) {
	tcp, sird := &Experiment{Protocol: "tcp-bbr"}, &Experiment{Protocol: "sird"}
	faulty := &Experiment{Protocol: "tcp", Faults: fault.Config{Drop: 0.1}}
	for _, c := range []struct {
		what string
		err  error
		want string
	}{
		{"TCP on the model", NoKernelTCP(tcp), "tcp-bbr is the real TCP of a kernel"},
		{"SIRD on the model", NoKernelTCP(sird), ""},
		{"TCP", CheckKernelTCP(tcp), ""},
		{"TCP with faults", CheckKernelTCP(faulty), "tcp cannot be given faults"},
		{"SIRD with faults", CheckKernelTCP(&Experiment{Protocol: "sird", Faults: faulty.Faults}), ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			if c.want == "" && c.err != nil || c.want != "" &&
				(!errors.Is(c.err, ErrUnsuited) || !strings.Contains(c.err.Error(), c.want)) {
				t.Errorf("got %v, want an error with %q (none if empty)", c.err, c.want)
			}
		})
	}
}
