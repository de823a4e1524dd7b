//go:build linux

package fabric

import (
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric/port"
	"sirdbed/emu/fabric/rtnl"
)

// A Feature is something that sirdbed uses of Linux, and whether it is there.
type Feature struct {
	Name   string // one of the Feature constants
	Use    string // what for
	Option string // the kernel option, or the right, that it takes
	Err    error  // nil: it works. Otherwise it matches emu.ErrNotSupported
	Remedy string // what to do; empty when it works
}

// The features, as Probe takes and Probes lists them.
const (
	FeatureUserNS    = "user namespaces"
	FeatureNetNS     = "network namespaces"
	FeatureRaw       = "raw sockets"
	FeatureRings     = "packet rings"
	FeatureVeth      = "veth"
	FeatureHTB       = "htb"
	FeatureFIFO      = "fifo"
	FeatureU32       = "u32"
	FeatureMultipath = "multipath"
	FeatureHashSeed  = "multipath hash seed"
	FeatureRED       = "red"
	FeatureMarker    = "ebpf marker"
	FeaturePrio      = "prio"
	FeatureNetem     = "netem"
	FeatureIFB       = "ifb"
	FeatureRedirect  = "ingress redirect"
	FeatureTCX       = "tcx"
)

// probe is how to find out about a feature: by doing it.
type probe struct {
	Feature
	try func() error
}

// results holds each probe's outcome: of the first asking, as neither kernel
// nor rights change under a running process.
var results = func() map[string]func() Feature {
	m := map[string]func() Feature{}
	for _, p := range probes {
		m[p.Name] = sync.OnceValue(p.run)
	}
	return m
}()

// Probe reports whether one feature works, in this process and with its rights.
// It is tried the first time that it is asked about. It is safe for concurrent
// use.
func Probe(name string) Feature {
	if f, ok := results[name]; ok {
		return f()
	}
	panic("fabric: there is no feature " + name)
}

// Probes probes all features. An ordinary user's process has to be in a sandbox
// to see more than that it has no rights.
func Probes() []Feature {
	list := make([]Feature, len(probes))
	for i, p := range probes {
		list[i] = Probe(p.Name)
	}
	return list
}

func (p probe) run() Feature {
	f := p.Feature
	err := p.try()
	switch {
	case err == nil:
		f.Remedy = ""
		return f
	case errors.Is(err, errNoNamespace) && f.Name != FeatureNetNS:
		f.Option, f.Remedy = "a network namespace to try it in", "make network namespaces possible first"
	case errors.Is(err, unix.EPERM) && f.Name == FeatureNetNS:
		f.Option = "CAP_SYS_ADMIN, as root has it, here or in a user namespace"
	case errors.Is(err, unix.ENOSPC) && f.Name == FeatureNetNS:
		f.Option = "a higher limit: sysctl -w user.max_net_namespaces=10000"
	}
	f.Err = port.Explain(err)
	if !errors.Is(f.Err, emu.ErrNotSupported) {
		f.Err = &port.NotSupportedError{Feature: f.Name, Option: f.Option, Err: err}
	}
	return f
}

// errNoNamespace is why a probe could not even begin.
var errNoNamespace = errors.New("no network namespace to try it in")

// request tries requests in a namespace that is thrown away. They may use its
// loopback interface, rtnl.Loopback.
func request(add func(b *rtnl.Batch) error) func() error {
	return inThrowaway(func() error { return carryOut(add) })
}

// carryOut carries requests out in the calling thread's namespace.
func carryOut(add func(b *rtnl.Batch) error) error {
	var b rtnl.Batch
	if err := add(&b); err != nil {
		return err
	}
	return rtnl.Do(&b)
}

func inThrowaway(try func() error) func() error {
	return func() error {
		return elsewhere(func() error {
			if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
				return fmt.Errorf("%w: unshare: %w", errNoNamespace, err)
			}
			return try()
		})
	}
}
